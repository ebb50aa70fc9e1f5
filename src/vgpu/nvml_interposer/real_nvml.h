// SPDX-License-Identifier: Apache-2.0
//
// Where is the management library that this one stands in front of? Loaded on the first call, from
// BERTH_VGPU_NVML or where installations put it.
#pragma once

#include "vgpu/abi/nvml.h"

namespace berth::vgpu::nvml_interposer {

// A function by its exported name; null when there is none.
void* real_function(const char* name);

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(real_function(name));
}

}  // namespace berth::vgpu::nvml_interposer
