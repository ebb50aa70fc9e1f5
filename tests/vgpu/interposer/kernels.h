// SPDX-License-Identifier: Apache-2.0
//
// A kernel that takes as long as its parameter says.
#pragma once

#include "vgpu/interposer/job.h"
#include "vgpu/spin_kernel.h"

namespace vgpu {

// Each call loads a function of its own.
inline CUfunction load_spin(const Cuda& cuda) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    MUST(CUDA(cuModuleLoadData)(&module, berth::test_vgpu::kSpinKernel) == CUDA_SUCCESS);
    MUST(CUDA(cuModuleGetFunction)(&function, module, "berth_spin_ns") == CUDA_SUCCESS);
    return function;
}

}  // namespace vgpu
