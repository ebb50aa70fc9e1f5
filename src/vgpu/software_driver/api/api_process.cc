// SPDX-License-Identifier: Apache-2.0
//
// Initialisation, version, errors and devices.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

#include "vgpu/device/slices.h"
#include "vgpu/software_driver/driver.h"

using namespace berth::vgpu::software_driver;
namespace device = berth::vgpu::device;

namespace {

struct NamedResult {
    CUresult result;
    const char* name;
    const char* text;
};

#define BERTH_RESULT(value, text) {value, #value, text}
constexpr std::array kResults = {
    NamedResult BERTH_RESULT(CUDA_SUCCESS, "no error"),
    NamedResult BERTH_RESULT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    NamedResult BERTH_RESULT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    NamedResult BERTH_RESULT(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    NamedResult BERTH_RESULT(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    NamedResult BERTH_RESULT(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    NamedResult BERTH_RESULT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    NamedResult BERTH_RESULT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    NamedResult BERTH_RESULT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    NamedResult BERTH_RESULT(CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed"),
    NamedResult BERTH_RESULT(CUDA_ERROR_ALREADY_MAPPED, "resource already mapped"),
    NamedResult BERTH_RESULT(CUDA_ERROR_NOT_MAPPED, "resource not mapped"),
    NamedResult BERTH_RESULT(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported"),
    NamedResult BERTH_RESULT(CUDA_ERROR_INVALID_PTX, "a PTX compilation failed"),
    NamedResult BERTH_RESULT(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    NamedResult BERTH_RESULT(CUDA_ERROR_OPERATING_SYSTEM, "operating system call failed"),
    NamedResult BERTH_RESULT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    NamedResult BERTH_RESULT(CUDA_ERROR_ILLEGAL_STATE, "illegal state for the operation"),
    NamedResult BERTH_RESULT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    NamedResult BERTH_RESULT(CUDA_ERROR_NOT_READY, "device not ready"),
    NamedResult BERTH_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access"),
    NamedResult BERTH_RESULT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested"),
    NamedResult BERTH_RESULT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is enabled"),
    NamedResult BERTH_RESULT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access is not enabled"),
    NamedResult BERTH_RESULT(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "primary context is active"),
    NamedResult BERTH_RESULT(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    NamedResult BERTH_RESULT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    NamedResult BERTH_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "not while capturing"),
    NamedResult BERTH_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "capture invalidated"),
    NamedResult BERTH_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture begun elsewhere"),
    NamedResult BERTH_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "captured stream not joined"),
    NamedResult BERTH_RESULT(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef BERTH_RESULT

const NamedResult* find_result(CUresult result) {
    const auto* found = std::find_if(kResults.begin(), kResults.end(),
                                     [&](const auto& one) { return one.result == result; });
    return found == kResults.end() ? nullptr : found;
}

bool is_known_device(const Driver& driver, CUdevice of) {
    return of >= 0 && static_cast<std::size_t>(of) < driver.gpus.size();
}

// Runs body(Driver&, Gpu&) for a device that there is, when there is a place for the answer.
template <class Body>
CUresult ask_device(const void* out, CUdevice of, Body body) {
    return enter([&](Driver& driver, Lock&) -> CUresult {
        if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (!is_known_device(driver, of)) return CUDA_ERROR_INVALID_DEVICE;
        return body(driver, driver.gpus[static_cast<std::size_t>(of)]);
    });
}

CUresult copy_text(const std::string& text, char* to, int length) {
    if (length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(to, static_cast<std::size_t>(length), "%s", text.c_str());
    return CUDA_SUCCESS;
}

std::string bus_id_of(const Driver& driver, const Gpu& gpu) {
    return device::pci_bus_id(device::gpu_of(driver.description(), gpu.number));
}

// Of a Hopper GPU where the description does not say.
int attribute_of(const device::Description& description, std::uint32_t unit,
                 CUdevice_attribute attribute) {
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return 1024;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 0x7fffffff;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 48 << 10;
        case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return 64 << 10;
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
        case CU_DEVICE_ATTRIBUTE_MAX_PITCH: return 0x7fffffff;
        case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return 65536;
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1'980'000;
        case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 2'619'000;
        case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 5120;
        case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 50 << 20;
        case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT: return 512;
        case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
            return static_cast<int>(device::gpu_of(description, unit) + 3);
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            return static_cast<int>(device::sms_of(description, unit));
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return 2048;
        case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 3;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return 9;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return 228 << 10;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return 227 << 10;
        case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
        case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
        case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
        case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
        case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
        case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 1;
        default: return 0;  // what this GPU has not
    }
}

}  // namespace

CUresult cuInit(unsigned int flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    try {
        return initialise_driver();
    } catch (...) {
        return CUDA_ERROR_UNKNOWN;
    }
}

// Works before cuInit, and then says what the description says.
CUresult cuDriverGetVersion(int* version) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = driver_version();
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const NamedResult* found = find_result(error);
    *name = found == nullptr ? nullptr : found->name;
    return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
    if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const NamedResult* found = find_result(error);
    *text = found == nullptr ? nullptr : found->text;
    return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// Its tables are nowhere documented; a runtime that insists on them does not start here.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
    if (table != nullptr) *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuDeviceGet(CUdevice* to, int ordinal) {
    return ask_device(to, ordinal, [&](Driver&, Gpu&) {
        *to = ordinal;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetCount(int* count) {
    return enter([&](Driver& driver, Lock&) {
        if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *count = static_cast<int>(driver.gpus.size());
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice of) {
    return ask_device(name, of, [&](Driver& driver, Gpu& gpu) {
        return copy_text(device::name_of(driver.description(), gpu.number), name, length);
    });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice of) {
    return ask_device(uuid, of, [&](Driver& driver, Gpu& gpu) {
        std::memcpy(uuid->bytes, driver.description().uuids[gpu.number], sizeof(uuid->bytes));
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice of) { return cuDeviceGetUuid(uuid, of); }

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice of) {
    return ask_device(bytes, of, [&](Driver& driver, Gpu& gpu) {
        *bytes = device::memory_of(driver.description(), gpu.number) -
                 device::reserved_of(driver.description(), gpu.number);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice of) {
    return ask_device(value, of, [&](Driver& driver, Gpu& gpu) {
        if (attribute == 0) return CUDA_ERROR_INVALID_VALUE;
        *value = attribute_of(driver.description(), gpu.number, attribute);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice of) {
    return ask_device(major, of, [&](Driver&, Gpu&) {
        if (minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *major = 9;
        *minor = 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* to, const char* bus_id) {
    return ask_device(to, 0, [&](Driver& driver, Gpu&) {
        if (bus_id == nullptr) return CUDA_ERROR_INVALID_VALUE;
        for (std::size_t i = 0; i < driver.gpus.size(); ++i) {
            // With a domain of eight digits, of four, or without one.
            const std::string own = bus_id_of(driver, driver.gpus[i]);
            if (own != bus_id && own.substr(4) != bus_id && own.substr(9) != bus_id) continue;
            *to = static_cast<CUdevice>(i);
            return CUDA_SUCCESS;
        }
        return CUDA_ERROR_INVALID_DEVICE;
    });
}

CUresult cuDeviceGetPCIBusId(char* bus_id, int length, CUdevice of) {
    return ask_device(bus_id, of, [&](Driver& driver, Gpu& gpu) {
        return copy_text(bus_id_of(driver, gpu).substr(4), bus_id, length);
    });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice of, CUdevice peer) {
    return ask_device(can, of, [&](Driver& driver, Gpu&) {
        if (!is_known_device(driver, peer)) return CUDA_ERROR_INVALID_DEVICE;
        *can = of != peer ? 1 : 0;
        return CUDA_SUCCESS;
    });
}
