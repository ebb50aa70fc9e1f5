// SPDX-License-Identifier: Apache-2.0
//
// Which functions of the management library do the hooks call? It is loaded on the first call, from
// where vgpu/behind finds it.
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
