// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstring>

#include "vgpu/interposer/hooks/report.h"
#include "vgpu/interposer/job.h"

using namespace vgpu;

namespace {

// The library an address lies in.
std::string home_of(void* function) {
    Dl_info info{};
    return ::dladdr(function, &info) != 0 ? info.dli_fname : "";
}

bool is_ours(void* function) {
    return home_of(function).find("libberth-cuda.so") != std::string::npos;
}

}  // namespace

TEST_CASE("the library answers to the driver's names, and to the short one by its alias") {
    succeeds(end_of(start([] {
        MUST(is_ours(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), "cuInit")));
        MUST(is_ours(::dlsym(::dlopen("libcuda.so", RTLD_NOW), "cuInit")));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which allow no such thing
        MUST(is_ours(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_DEEPBIND), "cuMemAlloc_v2")));
#endif
        return 0;
    })));
}

TEST_CASE("a lookup gives the hook for what the driver would have given, by version and flags") {
    const GpuNode node("");
    succeeds(run([](const Cuda& cuda) {
        const auto at = [&](const char* name, int version, cuuint64_t flags) {
            return cuda.find(name, version, flags);
        };
        MUST(is_ours(at("cuMemAlloc", 12020, 0)));
        MUST(is_ours(at("cuGetProcAddress", 12020, 0)));
        MUST(at("cuGetProcAddress", 11030, 0) != at("cuGetProcAddress", 12000, 0));
              // A program with per-thread default streams gets its own launch.
        const auto per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
        MUST(is_ours(at("cuLaunchKernel", 12020, 0)));
        MUST(is_ours(at("cuLaunchKernel", 12020, per_thread)));
        MUST(at("cuLaunchKernel", 12020, 0) != at("cuLaunchKernel", 12020, per_thread));
        MUST(at("cuMemFreeAsync", 12020, 0) != at("cuMemFreeAsync", 12020, per_thread));
        MUST(at("cuMemAlloc", 12020, 0) == at("cuMemAlloc", 12020, per_thread));
    }));
}

TEST_CASE("an unknown name is not found, with the driver's own reason") {
    const GpuNode node("");
    succeeds(end_of(start([] {
        void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
        auto* const look_up = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(
            ::dlsym(library, "cuGetProcAddress_v2"));
        auto* const report =
            reinterpret_cast<decltype(&berth_vgpu_report)>(::dlsym(library, "berth_vgpu_report"));
        void* function = nullptr;
        CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
        MUST(look_up("cuFromTheFuture", &function, 13000, 0, &status) == CUDA_ERROR_NOT_FOUND);
        MUST(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
        MUST(look_up("cuMemAlloc", &function, 13000, 0, nullptr) == CUDA_SUCCESS);
        MUST(look_up("cuMemAlloc", nullptr, 13000, 0, &status) == CUDA_ERROR_INVALID_VALUE);
        MUST(report().is_tenant == 0);
        return 0;
    })));
}

namespace {

// A driver newer than this library stands before the software driver as long as this lives.
class FutureDriver {
  public:
    FutureDriver() : behind_(::getenv("BERTH_VGPU_DRIVER")) {
        ::setenv("BERTH_BEHIND", behind_.c_str(), 1);
        ::setenv("BERTH_VGPU_DRIVER", BERTH_FUTURE_DRIVER, 1);
    }
    ~FutureDriver() { ::setenv("BERTH_VGPU_DRIVER", behind_.c_str(), 1); }
    FutureDriver(const FutureDriver&) = delete;
    FutureDriver& operator=(const FutureDriver&) = delete;

  private:
    std::string behind_;
};

struct LookedUp {
    CUresult result = CUDA_SUCCESS;
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
};

LookedUp look_up(const char* name, int version) {
    auto* const ask = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(
        ::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), "cuGetProcAddress_v2"));
    LookedUp answer;
    answer.result = ask(name, &answer.function, version, 0, &answer.status);
    return answer;
}

bool is_not_found(const LookedUp& answer) {
    return answer.result == CUDA_ERROR_NOT_FOUND && answer.function == nullptr &&
           answer.status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

}  // namespace

TEST_CASE("in a share, what only a newer driver has is not found, and this is said once") {
    const GpuNode node("memory=300M");
    const FutureDriver future;
    const CaughtErrors errors;
    const int code = run([&](const Cuda& cuda) {
        auto* const report = reinterpret_cast<decltype(&berth_vgpu_report)>(
            ::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), "berth_vgpu_report"));
        MUST(is_not_found(look_up("cuSubgridCreate", 13050)));
        MUST(is_not_found(look_up("cuFromTheFuture", 12080)));
        MUST(is_not_found(look_up("cuFromTheFuture", 12080)));
        MUST(is_not_found(look_up("cuMemAlloc", 99000)));
        MUST(report().refused == 4);
        // The older one is given, and counted to the byte.
        cuda.use_device();
        CUdeviceptr counted = 0;
        MUST(is_ours(look_up("cuMemAlloc", 13050).function));
        MUST(CUDA(cuMemAlloc_v2)(&counted, 100 * kMiB) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, 100 * kMiB));
    });
    const std::string said = errors.text();
    CAPTURE(said);
    CHECK(code == 0);
    const std::size_t at = said.find("the driver has cuFromTheFuture (CUDA 12.8), newer than");
    REQUIRE(at != std::string::npos);
    CHECK(said.find("newer than", said.find('\n', at)) == std::string::npos);
    CHECK(said.find("cuSubgrid") == std::string::npos);
}

TEST_CASE("in a share, a program has no logical endpoints") {
    const GpuNode node("memory=300M");
    const FutureDriver future;
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        auto* const create =
            cuda.get<decltype(cuLogicalEndpointCreate)>("cuLogicalEndpointCreate", 13030);
        MUST(create(1, nullptr) == CUDA_ERROR_NOT_SUPPORTED);
        auto* const import =
            cuda.get<decltype(cuLogicalEndpointImport)>("cuLogicalEndpointImport", 13030);
        MUST(import(1, nullptr, 0) == CUDA_ERROR_NOT_SUPPORTED);
    }));
}

TEST_CASE("without a share, a program gets all that the driver has") {
    const GpuNode node("");
    const FutureDriver future;
    node.be_nobody();
    const CaughtErrors errors;
    const int code = end_of(start([] {
        const LookedUp found = look_up("cuFromTheFuture", 12080);
        MUST(found.result == CUDA_SUCCESS);
        MUST(reinterpret_cast<int (*)(int)>(found.function)(21) == 42);
        MUST(look_up("cuMemAlloc", 99000).result == CUDA_SUCCESS);
        const LookedUp endpoint = look_up("cuLogicalEndpointCreate", 13030);
        MUST(is_ours(endpoint.function));
        MUST(reinterpret_cast<decltype(&cuLogicalEndpointCreate)>(endpoint.function)(1, nullptr) ==
             CUDA_SUCCESS);
        return 0;
    }));
    const std::string said = errors.text();
    CHECK(code == 0);
    CHECK(said.empty());
}

TEST_CASE("what a program takes past the library counts once the arbiter sees it") {
    const GpuNode node("memory=300M", {"--nvml", ::getenv("BERTH_VGPU_NVML")});
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        void* const driver = ::dlopen(::getenv("BERTH_VGPU_DRIVER"), RTLD_NOW);
        auto* const allocate =
            reinterpret_cast<decltype(&cuMemAlloc_v2)>(::dlsym(driver, "cuMemAlloc_v2"));
        MUST(!is_ours(reinterpret_cast<void*>(allocate)));
        CUdeviceptr uncounted = 0;
        MUST(allocate(&uncounted, 40 * kMiB) == CUDA_SUCCESS);
        MUST(eventually([&] { return is_charged(node, cuda, 40 * kMiB); }));
    }));
}

TEST_CASE("every name of the driver is there; what is not hooked reaches the driver unchanged") {
    const GpuNode node("memory=1G");
    succeeds(run([](const Cuda& cuda) {
        cuda.use_device();
        void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
        MUST(::dlsym(library, "cuTexObjectCreate") != nullptr);
        MUST(::dlsym(library, "cuGraphicsMapResources_ptsz") != nullptr);
              // Through the trampolines: nine integer arguments and a float pointer.
        const auto by_name = [&](auto* function, const char* name) {
            return reinterpret_cast<decltype(function)>(::dlsym(library, name));
        };
        char name[64] = "";
        MUST(by_name(&cuDeviceGetName, "cuDeviceGetName")(name, sizeof name, 0) == CUDA_SUCCESS);
        MUST(std::strlen(name) > 0);
        MUST(by_name(&cuDeviceGetName, "cuDeviceGetName")(name, sizeof name, 0) == CUDA_SUCCESS);
    }));
}

TEST_CASE("without a driver every call says so instead of failing to load") {
    ::setenv("BERTH_VGPU_DRIVER_BEFORE", ::getenv("BERTH_VGPU_DRIVER"), 1);
    ::setenv("BERTH_VGPU_DRIVER", "/nonexistent/libcuda.so.1", 1);
    succeeds(end_of(start([] {
        void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
        auto* const init = reinterpret_cast<decltype(&cuInit)>(::dlsym(library, "cuInit"));
        auto* const count =
            reinterpret_cast<decltype(&cuDeviceGetCount)>(::dlsym(library, "cuDeviceGetCount"));
        int devices = 0;
        MUST(init(0) == CUDA_ERROR_NO_DEVICE);
        MUST(count(&devices) == CUDA_ERROR_NO_DEVICE);
        return 0;
    })));
    ::setenv("BERTH_VGPU_DRIVER", ::getenv("BERTH_VGPU_DRIVER_BEFORE"), 1);
}
