// SPDX-License-Identifier: Apache-2.0
//
// Who uses a GPU, how much of its memory, how much of its time, and what it looks like otherwise.
#include <algorithm>
#include <chrono>
#include <thread>

#include "vgpu/device/memory.h"
#include "vgpu/device/processes.h"
#include "vgpu/software_nvml/library.h"

using namespace berth::vgpu::software_nvml;
namespace device = berth::vgpu::device;

namespace {

constexpr std::uint64_t kWindowNs = 100'000'000;

struct User {
    unsigned int pid = 0;
    std::uint64_t bytes = 0;
    std::uint32_t unit = 0;  // the GPU or the slice
};

// Those with a context on the GPU or on a slice of it; a process that is checkpointed has none.
std::vector<User> users_of(const device::SharedState& state, std::uint32_t of) {
    std::vector<User> users;
    const device::Description& description = state->description;
    for (const std::uint32_t process : device::enrolled(state)) {
        for (std::uint32_t unit = of; unit < device::units(description); ++unit) {
            if (unit != of && device::gpu_of(description, unit) != of) continue;
            const std::uint64_t bytes = device::used_by(state, process, unit);
            const std::int32_t pid = state->processes[process].pid.load();
            if (bytes != 0 && pid != 0)
                users.push_back({static_cast<unsigned int>(pid), bytes, unit});
        }
    }
    return users;
}

template <class Info>
nvmlReturn_t list_users(nvmlDevice_t handle, unsigned int* count, Info* infos) {
    return enter_unit(handle, count, [&](Library& open, std::uint32_t of) {
        const device::Description& description = (*open.state)->description;
        const std::vector<User> users = users_of(*open.state, of);
        const unsigned int room = *count;
        *count = static_cast<unsigned int>(users.size());
        if (users.empty()) return NVML_SUCCESS;
        if (room < users.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
        if (infos == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
        for (std::size_t i = 0; i < users.size(); ++i) {
            infos[i] = {};
            infos[i].pid = users[i].pid;
            infos[i].usedGpuMemory = users[i].bytes;
            if constexpr (requires { infos[i].gpuInstanceId; }) {
                const bool is_slice = device::is_slice(description, users[i].unit);
                infos[i].gpuInstanceId = is_slice ? gpu_instance(description, users[i].unit) : ~0U;
                infos[i].computeInstanceId = is_slice ? 0 : ~0U;
            }
        }
        return NVML_SUCCESS;
    });
}

nvmlReturn_t list_nobody(nvmlDevice_t handle, unsigned int* count) {
    return enter_unit(handle, count, [&](Library&, std::uint32_t) {
        *count = 0;
        return NVML_SUCCESS;
    });
}

Sample take_sample(const device::SharedState& state, std::uint32_t gpu) {
    const device::Locked locked(state);
    device::Engine& engine = state->engines[gpu];
    const device::Description& description = state->description;
    Sample sample;
    sample.now_ns = state.now_ns();
    device::advance(engine, {description.sharing, description.slice_ns}, sample.now_ns);
    sample.busy_ns = engine.busy_ns;
    std::copy(std::begin(engine.served_ns), std::end(engine.served_ns), sample.served_ns.begin());
    return sample;
}

unsigned int percent(std::uint64_t part_ns, std::uint64_t whole_ns) {
    if (whole_ns == 0) return 0;
    return static_cast<unsigned int>(std::min<std::uint64_t>(100, part_ns * 100 / whole_ns));
}

struct Window {
    Sample begin;
    Sample end;
    std::uint64_t ns() const { return end.now_ns - begin.now_ns; }
    std::uint64_t served_ns(std::size_t process) const {
        // Less than before: the number belongs to another process now.
        return end.served_ns[process] - std::min(begin.served_ns[process], end.served_ns[process]);
    }
};

// From the last look of this process, which is at least a tenth of a second ago, until now.
Window window_of(Library& open, std::uint32_t gpu) {
    Window window;
    window.begin =
        open.samples[gpu].now_ns != 0 ? open.samples[gpu] : take_sample(*open.state, gpu);
    if (const std::uint64_t ready_ns = window.begin.now_ns + kWindowNs;
        open.state->now_ns() < ready_ns)
        open.state->pass_until(ready_ns);
    window.end = take_sample(*open.state, gpu);
    open.samples[gpu] = window.end;
    return window;
}

struct Share {
    unsigned int pid = 0;
    unsigned int percent = 0;
};

std::vector<Share> shares_of(Library& open, const Window& window) {
    std::vector<Share> shares;
    for (const std::uint32_t process : device::enrolled(*open.state)) {
        const std::uint64_t served_ns = window.served_ns(process);
        const std::int32_t pid = (*open.state)->processes[process].pid.load();
        if (served_ns != 0 && pid != 0)
            shares.push_back({static_cast<unsigned int>(pid), percent(served_ns, window.ns())});
    }
    return shares;
}

template <class T>
nvmlReturn_t answer(nvmlDevice_t handle, T* to, T value) {
    return enter_gpu(handle, to, [&](Library&, std::uint32_t) {
        *to = value;
        return NVML_SUCCESS;
    });
}

}  // namespace

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t* memory) {
    return enter_unit(handle, memory, [&](Library& open, std::uint32_t gpu) {
        const device::Usage usage = device::usage(*open.state, gpu);
        // This older form counts what the driver keeps as used.
        *memory = {usage.total_bytes, usage.free_bytes(), usage.used_bytes + usage.reserved_bytes};
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, nvmlMemory_v2_t* memory) {
    return enter_unit(handle, memory, [&](Library& open, std::uint32_t gpu) {
        if (memory->version != nvml_version<nvmlMemory_v2_t>(2))
            return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
        const device::Usage usage = device::usage(*open.state, gpu);
        memory->total = usage.total_bytes;
        memory->reserved = usage.reserved_bytes;
        memory->free = usage.free_bytes();
        memory->used = usage.used_bytes;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t handle, nvmlBAR1Memory_t* memory) {
    return enter_gpu(handle, memory, [&](Library& open, std::uint32_t) {
        const std::uint64_t bytes = (*open.state)->description.memory_bytes;
        *memory = {bytes, bytes, 0};
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t handle, unsigned int* count,
                                                  nvmlProcessInfo_v1_t* infos) {
    return list_users(handle, count, infos);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t handle, unsigned int* count,
                                                     nvmlProcessInfo_v2_t* infos) {
    return list_users(handle, count, infos);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned int* count,
                                                     nvmlProcessInfo_v2_t* infos) {
    return list_users(handle, count, infos);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t handle, unsigned int* count,
                                                   nvmlProcessInfo_v1_t*) {
    return list_nobody(handle, count);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t handle, unsigned int* count,
                                                      nvmlProcessInfo_v2_t*) {
    return list_nobody(handle, count);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t handle, unsigned int* count,
                                                      nvmlProcessInfo_v2_t*) {
    return list_nobody(handle, count);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned int* count,
                                                        nvmlProcessInfo_v2_t*) {
    return list_nobody(handle, count);
}

nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t handle,
                                                   nvmlProcessDetailList_v1_t* list) {
    if (list == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (list->version != nvml_version<nvmlProcessDetailList_v1_t>(1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    constexpr unsigned int kCompute = 0;
    constexpr unsigned int kAll = 3;
    if (list->mode == kCompute || list->mode == kAll)
        return list_users(handle, &list->numProcArrayEntries, list->procArray);
    return list_nobody(handle, &list->numProcArrayEntries);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t handle, nvmlUtilization_t* utilization) {
    return enter_gpu(handle, utilization, [&](Library& open, std::uint32_t gpu) {
        if (device::is_cut((*open.state)->description, gpu)) return NVML_ERROR_NOT_SUPPORTED;
        const Window window = window_of(open, gpu);
        *utilization = {percent(window.end.busy_ns - window.begin.busy_ns, window.ns()), 0};
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t handle,
                                             nvmlProcessUtilizationSample_t* samples,
                                             unsigned int* count, unsigned long long) {
    return enter_gpu(handle, count, [&](Library& open, std::uint32_t gpu) {
        // As documented: without a place to write, the answer is how large it must be.
        if (samples == nullptr) {
            *count = static_cast<unsigned int>(users_of(*open.state, gpu).size());
            return *count == 0 ? NVML_ERROR_NOT_FOUND : NVML_ERROR_INSUFFICIENT_SIZE;
        }
        const Window window = window_of(open, gpu);
        const std::vector<Share> shares = shares_of(open, window);
        const unsigned int room = *count;
        *count = static_cast<unsigned int>(shares.size());
        if (shares.empty()) return NVML_ERROR_NOT_FOUND;
        if (room < shares.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
        for (std::size_t i = 0; i < shares.size(); ++i)
            samples[i] = {shares[i].pid, window.end.now_ns / 1000, shares[i].percent, 0, 0, 0};
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t handle,
                                                   nvmlProcessesUtilizationInfo_v1_t* info) {
    return enter_gpu(handle, info, [&](Library& open, std::uint32_t gpu) {
        if (info->version != nvml_version<nvmlProcessesUtilizationInfo_v1_t>(1))
            return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
        if (info->procUtilArray == nullptr) {
            info->processSamplesCount =
                static_cast<unsigned int>(users_of(*open.state, gpu).size());
            return NVML_ERROR_INSUFFICIENT_SIZE;
        }
        const Window window = window_of(open, gpu);
        const std::vector<Share> shares = shares_of(open, window);
        const unsigned int room = info->processSamplesCount;
        info->processSamplesCount = static_cast<unsigned int>(shares.size());
        if (shares.empty()) return NVML_ERROR_NOT_FOUND;
        if (room < shares.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
        info->lastSeenTimeStamp = window.end.now_ns / 1000;
        for (std::size_t i = 0; i < shares.size(); ++i)
            info->procUtilArray[i] = {
                window.end.now_ns / 1000, shares[i].pid, shares[i].percent, 0, 0, 0, 0, 0};
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t handle, unsigned int* milliwatts) {
    return answer(handle, milliwatts, 75'000U);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t handle, nvmlTemperatureSensors_t sensor,
                                      unsigned int* celsius) {
    if (sensor != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
    return answer(handle, celsius, 35U);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t handle, nvmlClockType_t clock, unsigned int* mhz) {
    if (clock > NVML_CLOCK_VIDEO) return NVML_ERROR_INVALID_ARGUMENT;
    return answer(handle, mhz, clock == NVML_CLOCK_MEM ? 2619U : 1980U);
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t handle, nvmlEnableState_t* mode) {
    return answer(handle, mode, NVML_FEATURE_ENABLED);
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t handle, nvmlComputeMode_t* mode) {
    return answer(handle, mode, NVML_COMPUTEMODE_DEFAULT);
}
