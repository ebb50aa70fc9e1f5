// SPDX-License-Identifier: Apache-2.0
//
// Which slices are GPUs cut into (MIG)? Each is a GPU instance with one compute instance.
#include "vgpu/software_nvml/library.h"

using namespace berth::vgpu::software_nvml;
namespace device = berth::vgpu::device;

namespace berth::vgpu::software_nvml {

unsigned int gpu_instance(const device::Description& description, std::uint32_t slice) {
    unsigned int number = 0;
    for (std::uint32_t unit = description.gpus; unit <= slice; ++unit)
        if (device::gpu_of(description, unit) == device::gpu_of(description, slice)) ++number;
    return number;
}

}  // namespace berth::vgpu::software_nvml

namespace {

// As enter_unit(), for what only a slice has.
template <class Body>
nvmlReturn_t enter_slice(nvmlDevice_t handle, const void* out, Body body) {
    return enter_unit(handle, out, [&](Library& open, std::uint32_t unit) -> nvmlReturn_t {
        const device::Description& description = (*open.state)->description;
        if (!device::is_slice(description, unit)) return NVML_ERROR_INVALID_ARGUMENT;
        return body(description, unit);
    });
}

}  // namespace

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned int* current,
                                  unsigned int* pending) {
    return enter_gpu(handle, current, [&](Library& open, std::uint32_t gpu) {
        if (pending == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
        *current = *pending = device::is_cut((*open.state)->description, gpu) ? 1 : 0;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t handle, unsigned int* count) {
    return enter_gpu(handle, count, [&](Library&, std::uint32_t) {
        *count = device::kComputeSlices;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t handle, unsigned int index,
                                                 nvmlDevice_t* to) {
    return enter_gpu(handle, to, [&](Library& open, std::uint32_t gpu) {
        const device::Description& description = (*open.state)->description;
        if (index >= device::kComputeSlices) return NVML_ERROR_INVALID_ARGUMENT;
        for (std::uint32_t unit = description.gpus; unit < device::units(description); ++unit) {
            const bool is_it = device::gpu_of(description, unit) == gpu &&
                               gpu_instance(description, unit) == index + 1;
            if (!is_it) continue;
            *to = reinterpret_cast<nvmlDevice_t>(handles + unit);
            return NVML_SUCCESS;
        }
        return NVML_ERROR_NOT_FOUND;
    });
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t handle, nvmlDevice_t* to) {
    return enter_slice(handle, to, [&](const device::Description& description, auto slice) {
        *to = reinterpret_cast<nvmlDevice_t>(handles + device::gpu_of(description, slice));
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t handle, unsigned int* is_slice) {
    return enter_unit(handle, is_slice, [&](Library& open, std::uint32_t unit) {
        *is_slice = device::is_slice((*open.state)->description, unit) ? 1 : 0;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t handle, unsigned int* id) {
    return enter_slice(handle, id, [&](const device::Description& description, auto slice) {
        *id = gpu_instance(description, slice);
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t handle, unsigned int* id) {
    return enter_slice(handle, id, [&](const device::Description&, auto) {
        *id = 0;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t handle, nvmlDeviceAttributes_t* attributes) {
    return enter_slice(handle, attributes, [&](const device::Description& description, auto slice) {
        const device::Slice& cut = description.slice[slice - description.gpus];
        *attributes = {};
        attributes->multiprocessorCount = device::sms_of(description, slice);
        attributes->sharedCopyEngineCount = 1;
        attributes->gpuInstanceSliceCount = cut.compute;
        attributes->computeInstanceSliceCount = cut.compute;
        attributes->memorySizeMB = cut.memory_bytes >> 20U;
        return NVML_SUCCESS;
    });
}
