// SPDX-License-Identifier: Apache-2.0
//
// A kernel that takes as long as its parameter says, as PTX: a real driver makes code of it, the
// software driver knows it by its name (src/vgpu/software_driver/work/module.h). Other kernels may
// follow it.
#pragma once

namespace berth::test_vgpu {

inline constexpr const char* kSpinKernel = R"(.version 8.0
.target sm_75
.address_size 64

.visible .entry berth_spin_ns(.param .u64 ns)
{
    .reg .pred %p;
    .reg .u64 %begin, %now, %passed, %wanted;
    ld.param.u64 %wanted, [ns];
    mov.u64 %begin, %globaltimer;
again:
    mov.u64 %now, %globaltimer;
    sub.u64 %passed, %now, %begin;
    setp.lt.u64 %p, %passed, %wanted;
    @%p bra again;
    ret;
}
)";

}  // namespace berth::test_vgpu
