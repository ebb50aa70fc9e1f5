// SPDX-License-Identifier: Apache-2.0
//
// What was charged for the thing that is freed now? A table of all that this process has, by the
// handle that the driver gave: open addressing in shards, so that threads seldom meet.
#pragma once

#include <cstdint>

#include "vgpu/interposer/process/devices.h"

namespace berth::vgpu::interposer {

enum class Kind : std::uint8_t { none, memory, array, mipmap };

struct Block {
    std::uint64_t handle = 0;
    CUcontext context = nullptr;  // goes with it
    std::uint64_t bytes = 0;      // as asked for; 0: charged otherwise
    CUmemoryPool pool = nullptr;  // where its bytes are counted, if in a pool
    Gpu gpu = kUnlimited;
    Kind kind = Kind::none;
};

// False when there is no host memory to remember it by; the caller then takes it back.
[[nodiscard]] bool remember(const Block& block);
// Takes it out; kind none when it is not there.
Block forget(Kind kind, std::uint64_t handle);
void forget_all_blocks();
// Takes out all of a context that was destroyed and gives back what they were charged.
void forget_context(CUcontext context);

// What a block takes of a GPU: memory of more than 1 MiB has pages of 2 MiB to itself, smaller
// pieces share pages. On false nothing is charged and why is on stderr.
[[nodiscard]] bool take_block(Gpu gpu, std::uint64_t bytes);
void give_block(Gpu gpu, std::uint64_t bytes);

inline constexpr std::uint64_t kPageBytes = 2U << 20U;
constexpr std::uint64_t whole_pages(std::uint64_t bytes) {
    return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace berth::vgpu::interposer
