// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/gpu_memory.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "vgpu/abi/nvml.h"

namespace berth::vgpu::arbiter {

template <class Function>
Function* GpuMemory::function(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library_, name));
}

GpuMemory::GpuMemory(const std::string& path) {
    if (path.empty()) return;
    library_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto init = function<decltype(nvmlInit_v2)>("nvmlInit_v2");
    if (init != nullptr && init() == NVML_SUCCESS) return;
    if (library_ != nullptr) ::dlclose(library_);
    library_ = nullptr;
}

GpuMemory::~GpuMemory() {
    if (const auto shutdown = function<decltype(nvmlShutdown)>("nvmlShutdown")) shutdown();
    if (library_ != nullptr) ::dlclose(library_);
}

std::optional<bool> GpuMemory::is_held(const std::string& uuid, pid_t pid) const {
    const auto by_uuid = function<decltype(nvmlDeviceGetHandleByUUID)>("nvmlDeviceGetHandleByUUID");
    const auto list = function<decltype(nvmlDeviceGetComputeRunningProcesses_v3)>(
        "nvmlDeviceGetComputeRunningProcesses_v3");
    nvmlDevice_t device = nullptr;
    if (by_uuid == nullptr || list == nullptr || by_uuid(uuid.c_str(), &device) != NVML_SUCCESS)
        return std::nullopt;
    std::vector<nvmlProcessInfo_v2_t> infos(64);
    for (int tries = 0; tries < 4; ++tries) {
        auto count = static_cast<unsigned int>(infos.size());
        const nvmlReturn_t result = list(device, &count, infos.data());
        if (result == NVML_SUCCESS)
            return std::any_of(infos.begin(), infos.begin() + count, [pid](const auto& info) {
                return info.pid == static_cast<unsigned int>(pid);
            });
        if (result != NVML_ERROR_INSUFFICIENT_SIZE) return std::nullopt;
        infos.resize(count + 64);
    }
    return std::nullopt;
}

}  // namespace berth::vgpu::arbiter
