// SPDX-License-Identifier: Apache-2.0
//
// Whose kernels does a GPU run at this moment, and how far are they?
//
// A queue is one stream of one process: so much work was submitted to it, so much of that was
// served, both in nanoseconds of a kernel alone on the GPU; the work of a queue runs in order.
// Between processes the GPU is shared in slices, round robin and without idle time, or
// concurrently as under MPS. Queues that run at one time share the multiprocessors: together they
// want `permille` of them, and past 1000 all slow down alike.
//
// The engine holds no clock: advance() carries it to a given time, so that the same calls give
// the same answers in real and in virtual time. Plain data, to live in shared memory. A process
// killed within advance() leaves at most one step that is counted twice.
#pragma once

#include <cstdint>

#include "vgpu/device/configuration.h"

namespace berth::vgpu::device {

inline constexpr std::uint32_t kProcessesMax = 512;
inline constexpr std::uint32_t kQueuesMax = 1024;

struct EngineQueue {
    std::uint32_t process = 0;  // its number and one more; 0: the queue is free
    std::uint32_t permille = 0;
    std::uint64_t submitted_ns = 0;
    std::uint64_t served_ns = 0;
    std::uint64_t dry_ns = 0;  // when it last ran out of work

    std::uint64_t backlog_ns() const { return submitted_ns - served_ns; }
};

struct Engine {
    std::uint64_t clock_ns = 0;
    std::uint64_t busy_ns = 0;  // of the time so far with a kernel on the GPU
    std::uint64_t slice_left_ns = 0;
    std::uint32_t turn = 0;       // the process whose slice it is
    std::uint32_t queues_end = 0;  // queues from here on were never used
    std::uint64_t served_ns[kProcessesMax] = {};
    EngineQueue queues[kQueuesMax] = {};
};

struct EngineRule {
    Sharing sharing = Sharing::Slices;
    std::uint64_t slice_ns = 2'000'000;
};

// Carries the engine to `now_ns`; does nothing when it is there already.
void advance(Engine& engine, EngineRule rule, std::uint64_t now_ns);

// A free queue for `process`, or kQueuesMax when all are taken.
std::uint32_t open_queue(Engine& engine, std::uint32_t process);
void close_queue(Engine& engine, std::uint32_t queue);
void close_queues_of(Engine& engine, std::uint32_t process);

// After whatever is in the queue, `duration_ns` of work on `permille` of the multiprocessors.
// Returns the amount of served work at which it is done.
std::uint64_t submit(Engine& engine, std::uint32_t queue, std::uint32_t permille,
                     std::uint64_t duration_ns);

}  // namespace berth::vgpu::device
