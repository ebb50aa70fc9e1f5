// SPDX-License-Identifier: Apache-2.0
//
// What do processes hold of their GPUs that nothing of ours counts? Code of modules, stacks and
// heaps of kernels, a context that costs more than was said: the management library is asked what
// they hold, and what that is above their charges counts against their tenant's limit like these.
//
// Charges come before memory is taken and go after it was given back, and are read before and after
// the library is asked: what moves meanwhile is never taken for uncounted. It is asked soon after a
// process came or went, then less and less often while the answer stays the same. It is not asked
// about tenants that are off their GPUs, or whose managed memory is not charged.
#pragma once

#include <cstdint>

#include "vgpu/arbiter/gpus/gpu_memory.h"
#include "vgpu/arbiter/gpus/loans.h"

namespace berth::vgpu::arbiter {

class Residue {
  public:
    // A process came or went.
    void stir(std::int64_t now);
    // When to look again at the latest.
    std::int64_t look(const Tenants& tenants, const GpuMemory& memory, std::int64_t now);

  private:
    std::int64_t next_ = INT64_MAX;
    std::int64_t period_ = 0;
};

}  // namespace berth::vgpu::arbiter
