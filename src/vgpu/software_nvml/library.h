// SPDX-License-Identifier: Apache-2.0
//
// How does a call get into the software NVML, and which GPU is a handle?
//
// It reads the state that the software driver's processes write, and is none of those itself.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "vgpu/abi/nvml.h"
#include "vgpu/device/shared_state.h"
#include "vgpu/device/slices.h"

namespace berth::vgpu::software_nvml {

// How far an engine was when it was last looked at.
struct Sample {
    std::uint64_t now_ns = 0;
    std::uint64_t busy_ns = 0;
    std::vector<std::uint64_t> served_ns = std::vector<std::uint64_t>(device::kProcessesMax);
};

struct Library {
    std::mutex mutex;
    unsigned int users = 0;  // nvmlInit without nvmlShutdown
    std::unique_ptr<device::SharedState> state;
    Sample samples[device::kGpusMax];
};

Library& library();

// Runs body(Library&) as one call. Errors: not initialised.
template <class Body>
nvmlReturn_t enter(Body body) noexcept {
    Library& open = library();
    const std::lock_guard lock(open.mutex);
    if (open.users == 0) return NVML_ERROR_UNINITIALIZED;
    try {
        return body(open);
    } catch (...) {
        return NVML_ERROR_UNKNOWN;
    }
}

// A handle is the address of the byte of the GPU, or of the slice, in here.
extern char handles[device::kGpusMax];

// Likewise, body(Library&, unit) for a GPU or slice that there is, when there is a place for the
// answer.
template <class Body>
nvmlReturn_t enter_unit(nvmlDevice_t handle, const void* out, Body body) noexcept {
    return enter([&](Library& open) -> nvmlReturn_t {
        const char* byte = reinterpret_cast<const char*>(handle);
        if (byte < handles || byte >= handles + device::units((*open.state)->description))
            return NVML_ERROR_INVALID_ARGUMENT;
        if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
        return body(open, static_cast<std::uint32_t>(byte - handles));
    });
}

// Likewise, for what only a GPU has.
template <class Body>
nvmlReturn_t enter_gpu(nvmlDevice_t handle, const void* out, Body body) noexcept {
    return enter_unit(handle, out, [&](Library& open, std::uint32_t unit) -> nvmlReturn_t {
        if (device::is_slice((*open.state)->description, unit)) return NVML_ERROR_NOT_SUPPORTED;
        return body(open, unit);
    });
}

// A slice's number among those of its GPU, from 1: on a GPU, instance 0 is all of it.
unsigned int gpu_instance(const device::Description& description, std::uint32_t slice);

}  // namespace berth::vgpu::software_nvml
