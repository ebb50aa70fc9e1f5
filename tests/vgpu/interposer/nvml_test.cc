// SPDX-License-Identifier: Apache-2.0
#include "vgpu/abi/nvml.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "vgpu/interposer/kernels.h"

using namespace vgpu;

namespace {

// The management library as a tool sees it.
template <class Function>
Function* nvml(const char* name) {
    void* function = ::dlsym(::dlopen("libnvidia-ml.so.1", RTLD_NOW), name);
    MUST(function != nullptr);
    return reinterpret_cast<Function*>(function);
}
#define NVML(name) nvml<decltype(name)>(#name)

nvmlDevice_t first_gpu() {
    nvmlDevice_t device = nullptr;
    MUST(NVML(nvmlInit_v2)() == NVML_SUCCESS);
    MUST(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &device) == NVML_SUCCESS);
    return device;
}

// A process that uses 100 MiB until it is killed; its pid.
pid_t start_user(const GpuNode& node, const std::string& tenant) {
    node.be(tenant);
    const pid_t user = start([&] {
        const Cuda cuda;
        cuda.use_device();
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 100 * kMiB) == CUDA_SUCCESS);
        ::pause();
        return 0;
    });
    REQUIRE(eventually([&] { return node.charged(tenant) == kContext + 100 * kMiB; }));
    return user;
}

void end(pid_t user) {
    ::kill(user, SIGKILL);
    CHECK(end_of(user) == 128 + SIGKILL);
}

// A process of the tenant that keeps the GPU busy until it is ended.
pid_t start_busy(const GpuNode& node, const std::string& tenant) {
    node.be(tenant);
    return start([] {
        const Cuda cuda;
        cuda.use_device();
        const CUfunction spin = load_spin(cuda);
        std::uint64_t ns = 5'000'000;
        void* parameters[] = {&ns};
        while (true) {
            MUST(CUDA(cuLaunchKernel)(spin, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) ==
                 CUDA_SUCCESS);
            MUST(CUDA(cuCtxSynchronize)() == CUDA_SUCCESS);
        }
        return 0;
    });
}

}  // namespace

TEST_CASE("inside a job the GPU's memory is the job's limit, and what is used the job's use") {
    const GpuNode node("memory=1G");
    node.tenant("other", "memory=1G");
    const pid_t other = start_user(node, "other");
    const pid_t user = start_user(node, "job");
    succeeds(end_of(start([] {
        const nvmlDevice_t device = first_gpu();
        nvmlMemory_t memory{};
        MUST(NVML(nvmlDeviceGetMemoryInfo)(device, &memory) == NVML_SUCCESS);
        MUST(memory.total == 1024 * kMiB);
        MUST(memory.used == kContext + 100 * kMiB);
        MUST(memory.free == memory.total - memory.used);
        nvmlMemory_v2_t second{};
        second.version = nvml_version<nvmlMemory_v2_t>(2);
        MUST(NVML(nvmlDeviceGetMemoryInfo_v2)(device, &second) == NVML_SUCCESS);
        MUST(second.total == 1024 * kMiB);
        MUST(second.used == kContext + 100 * kMiB);
        return 0;
    })));
    end(user);
    end(other);
}

TEST_CASE("inside a job only its own processes are shown") {
    const GpuNode node("memory=1G");
    node.tenant("other", "memory=1G");
    const pid_t other = start_user(node, "other");
    const pid_t user = start_user(node, "job");
    succeeds(end_of(start([user] {
        const nvmlDevice_t device = first_gpu();
        unsigned int count = 0;
        auto* const list = NVML(nvmlDeviceGetComputeRunningProcesses_v3);
        MUST(list(device, &count, nullptr) == NVML_ERROR_INSUFFICIENT_SIZE);
        MUST(count == 1);
        nvmlProcessInfo_v2_t infos[8];
        count = 8;
        MUST(list(device, &count, infos) == NVML_SUCCESS);
        MUST(count == 1);
        MUST(infos[0].pid == static_cast<unsigned int>(user));
        MUST(infos[0].usedGpuMemory == kContext + 100 * kMiB);
        nvmlProcessDetail_v1_t details[8];
        nvmlProcessDetailList_v1_t all{};
        all.version = nvml_version<nvmlProcessDetailList_v1_t>(1);
        auto* const list_details = NVML(nvmlDeviceGetRunningProcessDetailList);
        MUST(list_details(device, &all) == NVML_ERROR_INSUFFICIENT_SIZE);
        MUST(all.numProcArrayEntries == 1);
        all.numProcArrayEntries = 8;
        all.procArray = details;
        MUST(list_details(device, &all) == NVML_SUCCESS);
        MUST(all.numProcArrayEntries == 1);
        MUST(details[0].pid == static_cast<unsigned int>(user));
        MUST(details[0].usedGpuMemory == kContext + 100 * kMiB);
        return 0;
    })));
    // Outside of any job the machine is shown as it is.
    GpuNode::be_nobody();
    succeeds(end_of(start([] {
        const nvmlDevice_t device = first_gpu();
        nvmlProcessInfo_v2_t infos[8];
        unsigned int count = 8;
        MUST(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(device, &count, infos) == NVML_SUCCESS);
        MUST(count == 2);
        return 0;
    })));
    end(user);
    end(other);
}

TEST_CASE("inside a job only its own processes' use of the GPU's time is shown") {
    const GpuNode node("memory=1G");
    node.tenant("other", "memory=1G");
    const pid_t other = start_busy(node, "other");
    const pid_t user = start_busy(node, "job");
    succeeds(end_of(start([user] {
        const nvmlDevice_t device = first_gpu();
        const auto own = static_cast<unsigned int>(user);
        nvmlProcessUtilizationSample_t samples[16];
        nvmlProcessUtilizationInfo_v1_t infos[16];
        const auto is_alone = [&] {
            unsigned int count = 16;
            const auto list = NVML(nvmlDeviceGetProcessUtilization);
            const nvmlReturn_t result = list(device, samples, &count, 0);
            if (result != NVML_SUCCESS) return MUST(result == NVML_ERROR_NOT_FOUND), false;
            MUST(count == 1 && samples[0].pid == own);
            nvmlProcessesUtilizationInfo_v1_t all{};
            all.version = nvml_version<nvmlProcessesUtilizationInfo_v1_t>(1);
            all.processSamplesCount = 16;
            all.procUtilArray = infos;
            const auto list_all = NVML(nvmlDeviceGetProcessesUtilizationInfo);
            if (list_all(device, &all) != NVML_SUCCESS) return false;
            MUST(all.processSamplesCount == 1 && infos[0].pid == own);
            return true;
        };
        for (int look = 0; look < 20; ++look) {
            MUST(eventually(is_alone));
            pause_ms(10);
        }
        // Two are at work all the time; half of that is its own.
        const auto is_half = [&] {
            nvmlUtilization_t use{};
            MUST(NVML(nvmlDeviceGetUtilizationRates)(device, &use) == NVML_SUCCESS);
            return use.gpu >= 25 && use.gpu <= 75;
        };
        MUST(eventually(is_half));
        unsigned int count = 0;
        const auto list = NVML(nvmlDeviceGetProcessUtilization);
        MUST(list(device, nullptr, &count, 0) == NVML_ERROR_INSUFFICIENT_SIZE);
        MUST(count >= 1);
        return 0;
    })));
    end(user);
    end(other);
}

TEST_CASE("who idles sees no use of the GPU that others keep busy") {
    const GpuNode node("memory=1G");
    const pid_t user = start_busy(node, "job");
    const auto sees_use = [](bool wanted) {
        succeeds(end_of(start([wanted] {
            const nvmlDevice_t device = first_gpu();
            for (int look = 0; look < 5; ++look) {
                nvmlUtilization_t use{};
                MUST(NVML(nvmlDeviceGetUtilizationRates)(device, &use) == NVML_SUCCESS);
                MUST((use.gpu > 0) == wanted);
            }
            return 0;
        })));
    };
    node.tenant("idle", "memory=1G");
    node.be("idle");
    sees_use(false);
    GpuNode::be_nobody();
    sees_use(true);
    end(user);
}

TEST_CASE("what is not narrowed reaches the real library, a name it lacks says so") {
    const GpuNode node("memory=1G");
    succeeds(end_of(start([] {
        const nvmlDevice_t device = first_gpu();
        char uuid[NVML_DEVICE_UUID_BUFFER_SIZE] = "";
        MUST(NVML(nvmlDeviceGetUUID)(device, uuid, sizeof uuid) == NVML_SUCCESS);
        MUST(GpuNode::uuid(0) == uuid);
        auto* const rare = nvml<decltype(nvmlInit_v2)>("nvmlVgpuInstanceGetFbUsage");
        MUST(rare() == NVML_ERROR_FUNCTION_NOT_FOUND);
        return 0;
    })));
}

TEST_CASE("who only looks and finds no arbiter sees the machine as it is") {
    const GpuNode node("memory=1G");
    ::setenv("BERTH_VGPU_SOCKET", "/nonexistent/socket", 1);
    succeeds(end_of(start([] {
        nvmlMemory_t memory{};
        MUST(NVML(nvmlDeviceGetMemoryInfo)(first_gpu(), &memory) == NVML_SUCCESS);
        MUST(memory.total == 4096 * kMiB);
        return 0;
    })));
}
