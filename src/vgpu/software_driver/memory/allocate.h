// SPDX-License-Identifier: Apache-2.0
//
// How is memory of each origin made and given back?
#pragma once

#include <cstdint>

#include "vgpu/abi/cuda.h"

namespace berth::vgpu::software_driver {

struct Allocation;
struct Context;
struct Driver;

// As cuMemAlloc does: small pieces share pages, large ones have their own. 0: out of memory.
CUdeviceptr allocate(Driver& driver, const Context& context, std::size_t bytes);

// In pages of its own, whatever its size, at the address that `place` finds for them (0: none) or,
// without it, anywhere. 0: out of memory.
CUdeviceptr allocate_pages(Driver& driver, const Context& context, std::size_t bytes,
                           CUdeviceptr (*place)(std::uint64_t bytes) = nullptr);

// Takes the allocation out of the address space, with what is behind it.
void deallocate(Driver& driver, const Allocation& allocation);

// The real bytes behind device memory, or null where it has none.
void* contents_at(Driver& driver, CUdeviceptr pointer, std::size_t bytes);

}  // namespace berth::vgpu::software_driver
