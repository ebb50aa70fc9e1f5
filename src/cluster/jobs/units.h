// SPDX-License-Identifier: Apache-2.0
//
// In which units is a running job paused, and what does pausing the next of them destroy? The
// elastic tasks of an elastic job, those above the minimum of their group, go one by one, the
// highest rank first; whole groups, where a gang starts with some of them, the last first. Then its
// core goes, which is one unit.
#pragma once

#include <span>

#include "cluster/jobs/job_state.h"

namespace berth::cluster {

struct Units {
    base::SmallVector<TaskPlacement, 1> tasks;  // all that run, in the order in which they go
    std::size_t elastic = 0;  // how many units there are before the core
    std::size_t each = 1;  // tasks of each of those

    std::size_t count() const { return elastic + (first_of(elastic) < tasks.size() ? 1 : 0); }
    std::size_t first_of(std::size_t unit) const { return unit * each; }  // position of its first
    std::span<const TaskPlacement> operator[](std::size_t unit) const;
};
// Into `units`, whose memory serves again.
void find_units(const Shape& shape, const Job& job, Units& units);

// GPUs whose unsaved work goes with this unit, when those before it have gone: a job that is
// started again with fewer tasks stops as a whole with the first.
MilliGpu stopped_by(const Job& job, const Units& units, std::size_t unit);

// The next unit of a job, by what it destroys at any time: of those that are alike the cheapest
// first now is the cheapest first always.
struct LossKey {
    PriorityKey priority_key;
    MilliGpu gpus{0};  // of it
    MilliGpu stopped{0};  // GPUs whose work since the last save goes with it
    std::int64_t restart_gpu_ms = 0;
    TimePoint loses_from;
    JobId job;
    bool is_protectable = true;  // or stops it

    bool operator<(const LossKey& other) const;
    bool is_alike(const LossKey& other) const;  // loses the same with every second
    LossKey last_like() const;  // no job's: it comes after all that are alike
};
LossKey loss_key(const Shape& shape, const Job& job);

// GPU-milliseconds of work between these times.
std::int64_t unsaved_gpu_ms(MilliGpu gpus, TimePoint since, TimePoint now);

}  // namespace berth::cluster
