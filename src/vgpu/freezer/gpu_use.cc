// SPDX-License-Identifier: Apache-2.0
#include "vgpu/freezer/gpu_use.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "vgpu/abi/nvml.h"

namespace berth::vgpu::freezer {

template <class Function>
Function* GpuUse::find(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library_, name));
}

GpuUse::GpuUse(const std::string& library) {
    library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto init = find<decltype(nvmlInit_v2)>("nvmlInit_v2");
    const auto count = find<decltype(nvmlDeviceGetCount_v2)>("nvmlDeviceGetCount_v2");
    const bool works = init != nullptr && count != nullptr && init() == NVML_SUCCESS;
    if (!works || count(&gpus_) != NVML_SUCCESS) gpus_ = 0;
}

GpuUse::~GpuUse() {
    if (const auto shutdown = find<decltype(nvmlShutdown)>("nvmlShutdown")) shutdown();
    if (library_ != nullptr) ::dlclose(library_);
}

std::optional<std::int64_t> GpuUse::of(std::span<const pid_t> pids) const {
    const auto handle =
        find<decltype(nvmlDeviceGetHandleByIndex_v2)>("nvmlDeviceGetHandleByIndex_v2");
    const auto list = find<decltype(nvmlDeviceGetComputeRunningProcesses_v3)>(
        "nvmlDeviceGetComputeRunningProcesses_v3");
    if (gpus_ == 0 || handle == nullptr || list == nullptr) return {};
    std::int64_t bytes = 0;
    for (unsigned int gpu = 0; gpu < gpus_; ++gpu) {
        nvmlDevice_t device = nullptr;
        if (handle(gpu, &device) != NVML_SUCCESS) return {};
        std::vector<nvmlProcessInfo_v2_t> users(64);
        auto count = static_cast<unsigned int>(users.size());
        nvmlReturn_t result = list(device, &count, users.data());
        for (int tries = 0; result == NVML_ERROR_INSUFFICIENT_SIZE && tries < 4; ++tries) {
            users.resize(count + 64);
            count = static_cast<unsigned int>(users.size());
            result = list(device, &count, users.data());
        }
        if (result != NVML_SUCCESS) return {};
        for (unsigned int i = 0; i < count; ++i) {
            const auto pid = static_cast<pid_t>(users[i].pid);
            if (std::ranges::find(pids, pid) == pids.end()) continue;
            if (users[i].usedGpuMemory == NVML_VALUE_NOT_AVAILABLE) return {};
            bytes += static_cast<std::int64_t>(users[i].usedGpuMemory);
        }
    }
    return bytes;
}

bool GpuUse::is_any_sliced() const {
    const auto handle =
        find<decltype(nvmlDeviceGetHandleByIndex_v2)>("nvmlDeviceGetHandleByIndex_v2");
    const auto mode = find<decltype(nvmlDeviceGetMigMode)>("nvmlDeviceGetMigMode");
    for (unsigned int gpu = 0; handle != nullptr && mode != nullptr && gpu < gpus_; ++gpu) {
        nvmlDevice_t device = nullptr;
        unsigned int now = 0;
        unsigned int next = 0;
        if (handle(gpu, &device) == NVML_SUCCESS && mode(device, &now, &next) == NVML_SUCCESS &&
            now != 0)
            return true;
    }
    return false;
}

}  // namespace berth::vgpu::freezer
