// SPDX-License-Identifier: Apache-2.0
//
// Who holds which physical memory of a GPU, and how much is left?
//
// Memory comes in blocks of whole pages. A block lives while any process holds it; it is counted
// for the process that took it, or when that is gone for one that still holds it. Contexts count
// too. Nothing is ever handed out past what the GPU has, whatever processes are killed meanwhile.
#pragma once

#include <cstdint>

#include "vgpu/device/shared_state.h"

namespace berth::vgpu::device {

struct Wish {
    std::uint32_t process = 0;
    std::uint32_t gpu = 0;
    std::uint64_t bytes = 0;  // rounded up to whole pages
    bool is_shareable = false;
};

// A block for `wish.process`, held by it; kNobody when the GPU or the table of blocks is full.
std::uint32_t take(const SharedState& state, const Wish& wish);

// `process` holds a block of another one as well. False when it is not that block any more.
bool hold(const SharedState& state, std::uint32_t process, std::uint32_t block,
          std::uint64_t serial);

// `process` holds the block no longer; the last one frees it.
void let_go(const SharedState& state, std::uint32_t process, std::uint32_t block);

// One more context of `process` on `gpu`; false when there is no room for it.
bool add_context(const SharedState& state, std::uint32_t process, std::uint32_t gpu);
void remove_context(const SharedState& state, std::uint32_t process, std::uint32_t gpu);

struct Usage {
    std::uint64_t total_bytes = 0;
    std::uint64_t reserved_bytes = 0;
    std::uint64_t used_bytes = 0;  // by processes
    std::uint64_t free_bytes() const { return total_bytes - reserved_bytes - used_bytes; }
};

// As it looks to this process: a GPU with all of its slices, or of a slice, by its number on the
// machine.
Usage usage(const SharedState& state, std::uint32_t gpu);

// What is counted for `process` on that GPU of the machine.
std::uint64_t used_by(const SharedState& state, std::uint32_t process, std::uint32_t gpu);

// On which GPU of the machine the memory of `process` on its `gpu` is.
std::uint32_t placed_on(const Layout& layout, std::uint32_t process, std::uint32_t gpu);

// Is there room on the machine for all that `process` has, if its GPUs were those of `placement`?
// The caller holds the lock.
bool has_room(const Layout& layout, std::uint32_t process, std::uint64_t placement);

// Takes `process` off every block. The caller holds the lock.
void forget_holder(const SharedState& state, std::uint32_t process);

// Makes the sums what the records add up to. The caller holds the lock.
void recount(Layout& layout);

// After the owner of the lock was killed: ends what it began, then recounts.
void repair(const SharedState& state);

}  // namespace berth::vgpu::device
