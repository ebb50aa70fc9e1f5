// SPDX-License-Identifier: Apache-2.0
//
// Initialisation, versions, and which GPUs there are.
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "vgpu/software_nvml/library.h"

using namespace berth::vgpu::software_nvml;
namespace device = berth::vgpu::device;

namespace berth::vgpu::software_nvml {

char handles[device::kGpusMax] = {};

Library& library() {
    static Library* const open = new Library;  // threads may outlive main()
    return *open;
}

}  // namespace berth::vgpu::software_nvml

namespace {

nvmlDevice_t handle_of(std::uint32_t gpu) { return reinterpret_cast<nvmlDevice_t>(handles + gpu); }

nvmlReturn_t copy_text(const std::string& text, char* to, unsigned int length) {
    if (to == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (text.size() >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
    std::memcpy(to, text.c_str(), text.size() + 1);
    return NVML_SUCCESS;
}

// The first GPU or slice of which `is_it(gpu)` holds.
template <class Condition>
nvmlReturn_t find_gpu(nvmlDevice_t* to, Condition is_it) {
    return enter([&](Library& open) {
        if (to == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
        for (std::uint32_t gpu = 0; gpu < device::units((*open.state)->description); ++gpu) {
            if (!is_it((*open.state)->description, gpu)) continue;
            *to = handle_of(gpu);
            return NVML_SUCCESS;
        }
        return NVML_ERROR_NOT_FOUND;
    });
}

// A release of the driver that speaks this version of CUDA.
std::string driver_release(std::uint32_t cuda_version) {
    if (cuda_version >= 13040) return "615.43.02";
    if (cuda_version >= 13000) return "580.65.06";
    return cuda_version >= 12080 ? "570.86.10" : "535.54.03";
}

std::string lower(std::string text) {
    for (char& letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

void copy_fixed(const std::string& text, char* to, std::size_t length) {
    std::snprintf(to, length, "%s", text.c_str());
}

}  // namespace

nvmlReturn_t nvmlInitWithFlags(unsigned int) {
    Library& open = library();
    const std::lock_guard lock(open.mutex);
    try {
        if (open.state == nullptr) {
            const auto configuration = device::from_environment();
            if (!configuration) {
                std::fprintf(stderr, "berth software NVML: %s\n", configuration.error().c_str());
                return NVML_ERROR_DRIVER_NOT_LOADED;
            }
            auto state = device::SharedState::attach(*configuration);
            if (!state) {
                std::fprintf(stderr, "berth software NVML: %s\n", state.error().c_str());
                return NVML_ERROR_DRIVER_NOT_LOADED;
            }
            open.state = std::move(*state);
        }
        ++open.users;
        return NVML_SUCCESS;
    } catch (...) {
        return NVML_ERROR_UNKNOWN;
    }
}

nvmlReturn_t nvmlInit_v2() { return nvmlInitWithFlags(0); }

nvmlReturn_t nvmlShutdown() {
    return enter([](Library& open) {
        if (--open.users != 0) return NVML_SUCCESS;
        open.state.reset();
        for (Sample& sample : open.samples) sample = {};
        return NVML_SUCCESS;
    });
}

const char* nvmlErrorString(nvmlReturn_t result) {
    switch (result) {
        case NVML_SUCCESS: return "Success";
        case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
        case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
        case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
        case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
        case NVML_ERROR_NOT_FOUND: return "Not Found";
        case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
        case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
        case NVML_ERROR_FUNCTION_NOT_FOUND: return "Function Not Found";
        case NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
        case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "Argument version mismatch";
        case NVML_ERROR_UNKNOWN: break;
    }
    return "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
    return enter([&](Library& open) {
        return copy_text(driver_release((*open.state)->description.driver_version), version,
                         length);
    });
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
    return enter([&](Library& open) {
        const std::uint32_t cuda = (*open.state)->description.driver_version;
        return copy_text(std::to_string(cuda / 1000) + "." + driver_release(cuda), version, length);
    });
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
    return enter([&](Library& open) {
        if (version == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
        *version = static_cast<int>((*open.state)->description.driver_version);
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
    return nvmlSystemGetCudaDriverVersion(version);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name, unsigned int length) {
    return enter([&](Library&) {
        if (name == nullptr || length == 0) return NVML_ERROR_INVALID_ARGUMENT;
        std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
        std::string command;
        if (!file || !std::getline(file, command, '\0')) return NVML_ERROR_NOT_FOUND;
        copy_fixed(command, name, length);
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
    return enter([&](Library& open) {
        if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
        *count = (*open.state)->description.gpus;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* to) {
    return enter([&](Library& open) {
        if (to == nullptr || index >= (*open.state)->description.gpus)
            return NVML_ERROR_INVALID_ARGUMENT;
        *to = handle_of(index);
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* to) {
    if (uuid == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    return find_gpu(to, [&](const device::Description& description, std::uint32_t gpu) {
        return device::uuid_of(description, gpu) == uuid;
    });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* to) {
    if (bus_id == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    return find_gpu(to, [&](const device::Description&, std::uint32_t gpu) {
        const std::string own = lower(device::pci_bus_id(gpu));
        const std::string wanted = lower(bus_id);
        return own == wanted || own.substr(4) == wanted || own.substr(9) == wanted;
    });
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned int* index) {
    return enter_gpu(handle, index, [&](Library&, std::uint32_t gpu) {
        *index = gpu;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t handle, unsigned int* minor) {
    return nvmlDeviceGetIndex(handle, minor);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char* name, unsigned int length) {
    return enter_unit(handle, name, [&](Library& open, std::uint32_t unit) {
        return copy_text(device::name_of((*open.state)->description, unit), name, length);
    });
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char* uuid, unsigned int length) {
    return enter_unit(handle, uuid, [&](Library& open, std::uint32_t unit) {
        return copy_text(device::uuid_of((*open.state)->description, unit), uuid, length);
    });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, nvmlPciInfo_t* info) {
    return enter_gpu(handle, info, [&](Library&, std::uint32_t gpu) {
        *info = {};
        const std::string id = device::pci_bus_id(gpu);
        copy_fixed(id, info->busId, sizeof(info->busId));
        copy_fixed(id.substr(4), info->busIdLegacy, sizeof(info->busIdLegacy));
        info->bus = gpu + 3;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t handle, int* major, int* minor) {
    return enter_gpu(handle, major, [&](Library&, std::uint32_t) {
        if (minor == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
        *major = 9;
        *minor = 0;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t handle, unsigned int* cores) {
    return enter_gpu(handle, cores, [&](Library& open, std::uint32_t) {
        *cores = (*open.state)->description.sms * 128;
        return NVML_SUCCESS;
    });
}
