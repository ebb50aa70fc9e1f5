// SPDX-License-Identifier: Apache-2.0
//
// Which functions of the driver do the hooks call? It is loaded on the first call, from where
// vgpu/behind finds it.
#pragma once

#include <atomic>

#include "vgpu/abi/cuda.h"
#include "vgpu/interposer/driver/calls.h"
#include "vgpu/interposer/generated/driver_functions.h"

namespace berth::vgpu::interposer {

// What the hooks call. A function that the driver lacks is null.
struct RealDriver {
#define BERTH_REAL_MEMBER(name) decltype(&::name) name = nullptr;
    BERTH_DRIVER_FUNCTIONS(BERTH_REAL_MEMBER)
#undef BERTH_REAL_MEMBER
    void* library = nullptr;  // null when there is no driver: the message is on stderr then
};

extern RealDriver real_driver;
extern std::atomic<bool> real_driver_is_loaded;
void load_real_driver_once();

// Loads it on the first call; safe from several threads. Afterwards it is one load. Every hook
// begins with it, so that it notes the call.
inline const RealDriver& load_real_driver() {
    note_call();
    if (!real_driver_is_loaded.load(std::memory_order_acquire)) [[unlikely]]
        load_real_driver_once();
    return real_driver;
}

// A function by its exported name; null when the driver lacks it.
void* real_function(const char* name);

// What a hook answers where the driver lacks its function.
inline CUresult missing() { return CUDA_ERROR_NOT_SUPPORTED; }

// Which stream a function means by the one it is given, and which its twin does.
inline const CUstream& as_given(const CUstream& stream) { return stream; }
inline CUstream per_thread(CUstream stream) {
    return stream == nullptr ? cu_stream_per_thread() : stream;
}

// Whether what is put into the stream is not done now, but becomes part of a graph.
bool is_capturing(CUstream stream);

}  // namespace berth::vgpu::interposer
