// SPDX-License-Identifier: Apache-2.0
//
// Which functions of the management library do the hooks call? It is loaded on the first call, from
// where vgpu/behind finds it.
#pragma once

#include "vgpu/abi/nvml.h"
#include "vgpu/nvml_interposer/generated/nvml_functions.h"

namespace berth::vgpu::nvml_interposer {

// A function that the library lacks is null.
struct RealNvml {
#define BERTH_REAL_MEMBER(name) decltype(&::name) name = nullptr;
    BERTH_NVML_FUNCTIONS(BERTH_REAL_MEMBER)
#undef BERTH_REAL_MEMBER
    void* library = nullptr;  // null when there is none: the message is on stderr then
};

// Loads it on the first call; safe from several threads.
const RealNvml& load_real_nvml();

// What a hook answers where the library lacks its function.
inline nvmlReturn_t missing() { return NVML_ERROR_FUNCTION_NOT_FOUND; }

}  // namespace berth::vgpu::nvml_interposer
