// SPDX-License-Identifier: Apache-2.0
//
// What can be taken of a running job at a time, and what does it cost? The units of a job
// (cluster/jobs/units.h), with what a decision asks of them.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "base/small_vector.h"
#include "scheduling/rights/reclaim.h"

namespace berth::scheduling {

struct VictimUnit : UnitSize {  // as it counts in quotas and shares
    JobId job;
    ProjectId project;
    cluster::PriorityKey priority_key;
    std::uint32_t count = 1;  // of units of its job
    int gang_phase = 0;  // of its job (rule R3), before anything was taken of it
    TimePoint created;  // of its job
    bool takes_whole_job = true;
    bool is_protectable = true;  // by its job's minimum run
    bool is_started_now = false;  // its job starts in this very decision: nothing is lost
    std::span<const model::TaskPlacement> tasks;  // all running
    std::span<const int> ranks;  // theirs
    MilliGpu stopped{0};  // GPUs whose unsaved work goes with it
    TimePoint protected_until;  // its job, by its minimum run
    TimePoint last_saved;  // its job
    TimePoint loses_from;  // its job: later where it saves when it is asked
    std::int64_t restart_gpu_ms = 0;

    int gpus_on(NodeId node) const;
    bool is_on(NodeId node) const;
    cluster::VictimKey key() const;  // its job's, before anything was taken of it
    // What pausing it at that time destroys, if it does not save.
    model::PauseCost cost_at(TimePoint time) const;
    // GPU-milliseconds of work that are expected to be lost with it: by these victims are chosen.
    std::int64_t price_at(TimePoint time) const;
};

// The same, of pausing so much of the job now.
model::PauseCost pause_cost(const cluster::Job& job, MilliGpu gpus, TimePoint now);
std::int64_t pause_price(const cluster::Job& job, MilliGpu gpus, TimePoint now);

// What taking some units costs, compared from left to right.
struct Cost {
    std::int64_t lost = 0;  // GPU-milliseconds of work
    int stopped = 0;  // jobs that lose all they run
    int touched = 0;  // jobs that lose anything

    auto operator<=>(const Cost&) const = default;
};

// Some units: positions in their table, ascending where nothing else is said.
using Choice = base::SmallVector<std::size_t, 16>;

}  // namespace berth::scheduling
