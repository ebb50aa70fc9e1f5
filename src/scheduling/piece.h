// SPDX-License-Identifier: Apache-2.0
//
// A piece of running work that could be paused, who wants its GPUs, and on what terms.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "base/small_vector.h"
#include "scheduling/pool_view.h"

namespace berth::scheduling {

struct Piece {
    JobId job;
    ProjectId project;
    cluster::Precedence precedence;
    std::uint32_t count = 1;  // of pieces into which its job is cut
    int stage = 0;  // of its job (rule R3), before anything was taken of it
    TimePoint created;  // of its job
    bool takes_whole_job = true;
    bool takes_core = true;  // or all of it has to stop for it
    bool is_fresh = false;  // its job starts in this very decision: nothing is lost
    std::span<const model::TaskPlacement> tasks;  // all running
    std::span<const int> ranks;  // theirs
    MilliGpu gpus{0};  // as they count in quotas and shares
    MilliGpu stopped{0};  // GPUs whose unsaved work goes with it
    TimePoint protected_until;  // its job, by its minimum run
    TimePoint last_saved;  // its job
    std::int64_t restart_gpu_ms = 0;

    int gpus_on(NodeId node) const;
    bool is_on(NodeId node) const;
    cluster::VictimKey key() const;  // its job's, before anything was taken of it
    // What pausing it at that time destroys.
    model::PauseCost cost_at(TimePoint time) const;
};

// What taking some pieces costs, compared from left to right.
struct Cost {
    std::int64_t lost = 0;  // GPU-milliseconds of work
    int stopped = 0;  // jobs that lose all they run
    int touched = 0;  // jobs that lose anything

    auto operator<=>(const Cost&) const = default;
};

// Some pieces: positions in their table, ascending where nothing else is said.
using Choice = base::SmallVector<std::size_t, 16>;

// Who wants to start, and by which right.
struct Beneficiary {
    const cluster::Job& job;
    int tasks = 1;
    MilliGpu amount{0};
    model::Rule rule = model::Rule::Reclaim;
    cluster::Region within = {};  // where it is to start
};

// What one beneficiary may take, the ledger left aside.
struct Terms {
    bool from_own = false;  // preemption: its own project's work of less precedence
    ProjectId project;  // its own
    cluster::Precedence precedence;  // its own when it preempts
    bool minimum_run = false;  // protected pieces are left alone

    model::Rule rule() const { return from_own ? model::Rule::Preempt : model::Rule::Reclaim; }
    auto operator<=>(const Terms&) const = default;
};
Terms terms_of(const PoolView& view, const Beneficiary& beneficiary);

}  // namespace berth::scheduling
