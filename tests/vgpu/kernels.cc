// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "vgpu/api.h"
#include "vgpu/spin_kernel.h"

namespace berth::test_vgpu {
namespace {

constexpr const char* kOthers = R"(
.visible .entry berth_add1(.param .u64 pointer, .param .u32 count)
{
    .reg .pred %p;
    .reg .u32 %i, %n, %block, %size, %value;
    .reg .u64 %base, %at;
    ld.param.u64 %base, [pointer];
    ld.param.u32 %n, [count];
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %block, %size, %i;
    setp.ge.u32 %p, %i, %n;
    @%p bra done;
    cvta.to.global.u64 %base, %base;
    mul.wide.u32 %at, %i, 4;
    add.u64 %at, %base, %at;
    ld.global.u32 %value, [%at];
    add.u32 %value, %value, 1;
    st.global.u32 [%at], %value;
done:
    ret;
}

.visible .entry berth_fill(.param .u64 pointer, .param .u32 value, .param .u32 count)
{
    .reg .pred %p;
    .reg .u32 %i, %n, %block, %size, %value;
    .reg .u64 %base, %at;
    ld.param.u64 %base, [pointer];
    ld.param.u32 %value, [value];
    ld.param.u32 %n, [count];
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %block, %size, %i;
    setp.ge.u32 %p, %i, %n;
    @%p bra done;
    cvta.to.global.u64 %base, %base;
    mul.wide.u32 %at, %i, 4;
    add.u64 %at, %base, %at;
    st.global.u32 [%at], %value;
done:
    ret;
}

.visible .entry berth_copy(.param .u64 to, .param .u64 from, .param .u32 count)
{
    .reg .pred %p;
    .reg .u32 %i, %n, %block, %size, %value;
    .reg .u64 %target, %source, %step, %at;
    ld.param.u64 %target, [to];
    ld.param.u64 %source, [from];
    ld.param.u32 %n, [count];
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %block, %size, %i;
    setp.ge.u32 %p, %i, %n;
    @%p bra done;
    cvta.to.global.u64 %target, %target;
    cvta.to.global.u64 %source, %source;
    mul.wide.u32 %step, %i, 4;
    add.u64 %at, %source, %step;
    ld.global.u32 %value, [%at];
    add.u64 %at, %target, %step;
    st.global.u32 [%at], %value;
done:
    ret;
}
)";

}  // namespace

const char* kernels() {
    static const std::string all = std::string(kSpinKernel) + kOthers;
    return all.c_str();
}

}  // namespace berth::test_vgpu
