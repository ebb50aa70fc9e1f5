// SPDX-License-Identifier: Apache-2.0
//
// How much does a stream-ordered memory pool keep, and when does it give memory back?
//
// What is freed stays in the pool; at the next synchronisation all above the release threshold
// goes back to the GPU.
#pragma once

#include <cstdint>

#include "vgpu/abi/cuda.h"
#include "vgpu/software_driver/memory/address_space.h"

namespace berth::vgpu::software_driver {

struct Driver;

struct MemoryPool {
    MemoryPool(AddressSpace& memory, CUdevice on, std::uint32_t gpu, std::uint64_t block_bytes)
        : device(on), arena(memory, on, gpu, block_bytes) {}

    CUdevice device = 0;  // kNoDevice: of the host
    bool is_default = false;
    std::uint64_t max_bytes = 0;  // 0: as much as there is
    std::uint64_t release_threshold = 0;
    std::uint64_t reserved_high = 0;
    std::uint64_t used_high = 0;
    int reuse[3] = {1, 1, 1};  // attributes that are kept and have no effect
    Arena arena;

    void note_high() {
        reserved_high = std::max(reserved_high, arena.reserved_bytes());
        used_high = std::max(used_high, arena.used_bytes());
    }
};

inline constexpr CUdevice kNoDevice = -1;

// Pools keep their memory in pieces of this size.
inline constexpr std::uint64_t kPoolBlockBytes = 32ULL << 20U;

void trim_pools(Driver& driver);

}  // namespace berth::vgpu::software_driver
