// SPDX-License-Identifier: Apache-2.0
//
// Calls in which a program waits for its work. They are passed on; how long they took says where
// an iteration ends, and pools may have given back what was freed.
#include "vgpu/interposer/driver/real_driver.h"
#include "vgpu/interposer/now.h"
#include "vgpu/interposer/process/iterating.h"
#include "vgpu/interposer/process/pools.h"

using namespace berth::vgpu::interposer;

namespace {

template <class Call>
CUresult wait(Call call) {
    const InCall in_call;
    if (!is_noting.load(std::memory_order_relaxed)) return call();
    const std::int64_t before = now_ns();
    const CUresult result = call();
    note_wait(now_ns() - before);
    settle_freed_pools();
    return result;
}

}  // namespace

#include "vgpu/interposer/generated/wait_hooks.inc"
