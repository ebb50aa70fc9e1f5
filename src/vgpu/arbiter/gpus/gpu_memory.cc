// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/gpus/gpu_memory.h"

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
    const auto infos = processes(uuid);
    if (!infos) return std::nullopt;
    return std::ranges::any_of(
        *infos, [pid](const auto& info) { return info.pid == static_cast<unsigned int>(pid); });
}

std::optional<GpuMemory::Holders> GpuMemory::holders(const std::string& uuid) const {
    const auto infos = processes(uuid);
    if (!infos) return std::nullopt;
    Holders holders;
    for (const auto& info : *infos) {
        if (info.usedGpuMemory == NVML_VALUE_NOT_AVAILABLE) return std::nullopt;
        holders[static_cast<pid_t>(info.pid)] += info.usedGpuMemory;
    }
    return holders;
}

std::optional<std::vector<nvmlProcessInfo_v2_t>> GpuMemory::processes(
    const std::string& uuid) const {
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
        if (result != NVML_SUCCESS && result != NVML_ERROR_INSUFFICIENT_SIZE) return std::nullopt;
        if (result == NVML_SUCCESS) {
            infos.resize(count);
            return infos;
        }
        infos.resize(count + 64);
    }
    return std::nullopt;
}

}  // namespace berth::vgpu::arbiter
