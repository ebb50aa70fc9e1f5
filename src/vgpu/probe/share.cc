// SPDX-License-Identifier: Apache-2.0
#include "vgpu/probe/share.h"

#include <dlfcn.h>

#include "vgpu/abi/cuda.h"
#include "vgpu/abi/nvml.h"

namespace berth::vgpu::probe {
namespace {

constexpr const char* kDriver = "libcuda.so.1";
constexpr const char* kNvml = "libnvidia-ml.so.1";

template <class Function>
Function* find(void* library, const char* name) {
    return reinterpret_cast<Function*>(::dlsym(library, name));
}

std::string beyond(const char* library, std::uint64_t seen, std::uint64_t limit) {
    return std::string(library) + " shows " + std::to_string(seen >> 20) +
           " MiB of the GPU, the share is " + std::to_string(limit >> 20) + " MiB";
}

std::string ask_driver(const Expected& expected) {
    void* const library = ::dlopen(kDriver, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return ::dlerror();
    const auto init = find<decltype(cuInit)>(library, "cuInit");
    const auto total = find<decltype(cuDeviceTotalMem_v2)>(library, "cuDeviceTotalMem_v2");
    if (init == nullptr || total == nullptr) return std::string(kDriver) + " is not a driver";
    if (const CUresult result = init(0); result != CUDA_SUCCESS)
        return "the driver does not start: cuInit answers " + std::to_string(result);
    std::size_t bytes = 0;
    if (const CUresult result = total(&bytes, 0); result != CUDA_SUCCESS)
        return "the driver shows no GPU: cuDeviceTotalMem answers " + std::to_string(result);
    return bytes > expected.limit ? beyond(kDriver, bytes, expected.limit) : "";
}

std::string ask_nvml(const Expected& expected) {
    void* const library = ::dlopen(kNvml, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return ::dlerror();
    const auto init = find<decltype(nvmlInit_v2)>(library, "nvmlInit_v2");
    const auto by_uuid =
        find<decltype(nvmlDeviceGetHandleByUUID)>(library, "nvmlDeviceGetHandleByUUID");
    const auto memory = find<decltype(nvmlDeviceGetMemoryInfo)>(library, "nvmlDeviceGetMemoryInfo");
    if (init == nullptr || by_uuid == nullptr || memory == nullptr)
        return std::string(kNvml) + " is not NVIDIA's management library";
    if (const nvmlReturn_t result = init(); result != NVML_SUCCESS)
        return "the management library does not start: nvmlInit answers " + std::to_string(result);
    nvmlDevice_t device = nullptr;
    nvmlMemory_t info{};
    nvmlReturn_t result = by_uuid(expected.gpu.c_str(), &device);
    if (result == NVML_SUCCESS) result = memory(device, &info);
    if (result != NVML_SUCCESS)
        return "the management library shows no GPU " + expected.gpu + ": it answers " +
               std::to_string(result);
    return info.total > expected.limit ? beyond(kNvml, info.total, expected.limit) : "";
}

// After both were asked by name: what is loaded by its path answers to its name from then on.
std::string load(const std::vector<std::string>& files) {
    for (const std::string& file : files)
        if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) return ::dlerror();
    return {};
}

}  // namespace

std::string why_no_share(const Expected& expected) {
    const std::string driver = ask_driver(expected);
    const std::string nvml = ask_nvml(expected);
    if (const std::string file = load(expected.files); !file.empty()) return file;
    return driver.empty() ? nvml : driver;
}

}  // namespace berth::vgpu::probe
