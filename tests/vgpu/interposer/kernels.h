// SPDX-License-Identifier: Apache-2.0
//
// A kernel that takes as long as it is told.
#pragma once

#include "vgpu/interposer/job.h"

namespace vgpu {

inline constexpr const char* kSpin = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry berth_spin_ns(.param .u64 ns)
{
    .reg .pred %done;
    .reg .b64 %now, %end, %ns;
    ld.param.u64 %ns, [ns];
    mov.u64 %now, %globaltimer;
    add.u64 %end, %now, %ns;
again:
    mov.u64 %now, %globaltimer;
    setp.lt.u64 %done, %now, %end;
    @%done bra again;
    ret;
}
)";

// Each call loads a function of its own.
inline CUfunction load_spin(const Cuda& cuda) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    MUST(CUDA(cuModuleLoadData)(&module, kSpin) == CUDA_SUCCESS);
    MUST(CUDA(cuModuleGetFunction)(&function, module, "berth_spin_ns") == CUDA_SUCCESS);
    return function;
}

}  // namespace vgpu
