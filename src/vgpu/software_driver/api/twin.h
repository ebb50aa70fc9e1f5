// SPDX-License-Identifier: Apache-2.0
//
// A function with a stream has a twin for programs built for per-thread default streams, under the
// same parameters: NULL means another stream there. Both call one body, whose first parameter says
// which of them was called.
#pragma once

#include "vgpu/software_driver/driver.h"

// BERTH_TWIN(cuLaunchHostFunc, _ptsz, launch_host, (CUstream s, ...), s, ...)
#define BERTH_TWIN(name, suffix, body, parameters, ...)                                 \
    extern "C" __attribute__((visibility("default"))) CUresult name parameters {        \
        return body(Default::Legacy, __VA_ARGS__);                                      \
    }                                                                                   \
    extern "C" __attribute__((visibility("default"))) CUresult name##suffix parameters; \
    extern "C" CUresult name##suffix parameters { return body(Default::PerThread, __VA_ARGS__); }

namespace berth::vgpu::software_driver {

// Runs body(Driver&, Context&, Stream&, Lock&) for the stream that the handle means.
template <class Body>
CUresult enter_stream(Default meant, CUstream handle, Body body) noexcept {
    return enter_context([&](Driver& driver, Context& context, Lock& lock) -> CUresult {
        Stream* stream = find_stream(driver, context, handle, meant);
        if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        return body(driver, context, *stream, lock);
    });
}

}  // namespace berth::vgpu::software_driver
