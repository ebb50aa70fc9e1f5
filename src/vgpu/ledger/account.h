// SPDX-License-Identifier: Apache-2.0
//
// What do the processes of one tenant tell each other and the arbiter? Their account: shared
// memory that all of them write, a line for each GPU of the tenant and in it a slot for each
// process. A process writes its own slots only, and what it uses of a GPU's memory is one word, so
// a kill at any instruction leaves nothing half written: a process that outlives it sets that word
// to zero.
//
// A slot never moves and means nothing until the arbiter hands it to a process (admission.h).
// All of it may be garbage where a process writes garbage: readers bound what they read.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace berth::vgpu::ledger {

inline constexpr std::uint32_t kGpusMax = 16;    // of one tenant
inline constexpr std::uint32_t kSlotsMax = 512;  // processes of one tenant at a time

// One process on one GPU.
struct alignas(64) Slot {
    std::atomic<std::uint64_t> charged;  // bytes of GPU memory, see charge.h
    std::atomic<std::uint32_t> pid;      // as the arbiter, its only writer, sees it; 0: none
    std::atomic<std::uint32_t> asking;   // threads with bytes in `charged` that may be too many
    std::atomic<std::uint64_t> highest;  // what was ever charged
    std::atomic<std::uint64_t> high;     // ... since the last iteration ended
    std::atomic<std::uint64_t> asked;    // bytes that threads wait for, beyond the limit

    // What the arbiter schedules by, apart so that launches do not slow allocations.
    // Ever growing: its part of the tenant's time with work on the GPU, see busy.h.
    alignas(64) std::atomic<std::uint64_t> busy_ns;
    std::atomic<std::int64_t> busy_since;  // the oldest work under way began; 0: there is none
    std::atomic<std::uint32_t> waiting;    // threads that wait at the gate
    std::atomic<std::uint32_t> inside;     // 1: an iteration has begun and not ended
    // Of the first GPU alone, for all of them (vgpu/interposer/driver/calls.h).
    std::atomic<std::uint32_t> called;               // 1: it made a call since that was last 0
    std::atomic<std::uint32_t> in_call;              // threads within a call that waits for work

    // What its iterations take, apart from what is written at launches. Counts ever grow.
    alignas(64) std::atomic<std::uint64_t> iterations;  // that have ended
    std::atomic<std::uint64_t> timed_iterations;        // of those, the ones that ...
    std::atomic<std::uint64_t> timed_ns;                // ... took this time, without gates
    std::atomic<std::uint64_t> persistent;  // the most charged at the end of one
    std::atomic<std::uint64_t> peak;        // the most charged within one
    std::atomic<std::uint32_t> launches;    // in one; 0: it has none
};

struct Line {
    pthread_mutex_t queue;              // robust: who is not sure of its room asks in turn
    std::atomic<std::uint32_t> queued;  // 1 while a process holds it: newcomers line up as well
    std::atomic<std::int64_t> counted_until;  // the tenant's time on the GPU, see busy.h
    Slot slots[kSlotsMax];
};

inline constexpr std::uint64_t kAccountMark = 0x3454434348545242;  // the layout's version

struct Account {
    std::uint64_t mark;
    Line lines[kGpusMax];
};

}  // namespace berth::vgpu::ledger
