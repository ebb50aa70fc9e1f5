// SPDX-License-Identifier: Apache-2.0
//
// What may a tenant use? Its terms: shared memory that only the arbiter can write. The kernel
// holds everybody else to reading (F_SEAL_FUTURE_WRITE).
#pragma once

#include <atomic>
#include <cstdint>

#include "vgpu/ledger/account.h"

namespace berth::vgpu::ledger {

// No limit, and the largest that can be set: no sum of all slots overflows.
inline constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 52;

inline constexpr std::uint32_t kUuidMax = 48;  // "GPU-..." with its NUL

// The two lowest bits of a gate. The others count, so that a waiter sees every change, and tell one
// turn from another.
enum class Gate : std::uint32_t {
    open = 0,  // no other tenant wants this GPU: launch without looking further
    granted = 1,  // it is this tenant's turn: launch, and account for it
    closed = 2,  // wait
    turn = 3,  // granted for one iteration: to end the one that has begun, or to make the next
};
constexpr Gate gate_of(std::uint32_t word) { return static_cast<Gate>(word & 3); }
constexpr std::uint32_t turn_of(std::uint32_t word) { return word >> 2; }

struct alignas(64) GpuTerms {
    char uuid[kUuidMax];
    alignas(64) std::atomic<std::uint64_t> limit_bytes;
    std::atomic<std::uint64_t> shown_bytes;  // how large the GPU looks; the most it may ever have
    std::atomic<std::uint64_t> request_bytes;  // what it was promised: up to here an asker waits
    std::atomic<std::uint32_t> answers;  // counts looks at what was asked, each of which decided
    std::atomic<std::uint32_t> in_rotation;  // 1: past the limit wait for a turn, to shown_bytes
    // Held by its processes and in no slot: code, what the driver takes; as the GPU itself says.
    std::atomic<std::uint64_t> uncounted_bytes;
    std::atomic<std::uint64_t> context_bytes;  // what a process pays for its context
    std::atomic<std::uint32_t> slots_end;  // no slot from here on was ever handed out
    std::atomic<std::uint32_t> settling;  // 1: processes are still coming back, do not grow
    std::atomic<std::uint32_t> managed;  // 1: managed memory may pass the limit, uncharged
    alignas(64) std::atomic<std::uint32_t> gate;
    std::atomic<std::uint32_t> ahead_us;  // work that may be launched ahead while it is gated
};

inline constexpr std::uint64_t kTermsMark = 0x354d524554545242;

struct Terms {
    std::uint64_t mark;
    std::uint32_t gpu_count;
    std::atomic<std::uint32_t> gated;  // GPUs whose gate is not open: 0 = launch without looking
    std::atomic<std::uint32_t> is_off;  // 1: it is off its GPUs, and no process of it may use them
    GpuTerms gpus[kGpusMax];
};

}  // namespace berth::vgpu::ledger
