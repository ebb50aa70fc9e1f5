// SPDX-License-Identifier: Apache-2.0
//
// Who is paused so that this job can start? The search behind reclaim and preempt.
//
// Victims are taken in pieces: the surplus tasks of an elastic job one at a time, highest rank
// first, then its core gang as one. Two ways to choose:
//   cheapest  (profile berth) the legal set with the least lost work, then the fewest jobs.
//             Exact when at most kExactPieces pieces are legal; beyond that the cheapest slot on
//             each node, one slot after the other.
//   in order  (profile classic, rule R8) worst project first, lowest priority, surplus first,
//             youngest first, until it fits; then whoever can keep its place keeps it, best first.
// Either way the result is minimal (I7: give any piece back and the job no longer starts), legal
// by the ledger, and comes with the places of the beneficiary (I6: no pause without a start).
#pragma once

#include <optional>
#include <vector>

#include "scheduling/pool_view.h"
#include "scheduling/reclaim.h"

namespace berth::scheduling {

inline constexpr int kExactPieces = 10;

struct Piece {
    JobId job;
    ProjectId project;
    std::vector<model::TaskPlacement> tasks;  // all running
    MilliGpu gpus{0};
    model::PauseCost cost;
    bool takes_whole_job = true;
    // What its job would in turn preempt to come back: pausing it costs its project that as well,
    // so a choice by cost goes straight to the lower priority.
    std::int64_t return_gpu_ms = 0;

    std::int64_t cost_gpu_ms() const {
        return cost.unsaved_gpu_ms + cost.restart_gpu_ms + return_gpu_ms;
    }
    std::vector<int> ranks() const;
};

struct Eviction {
    std::vector<Piece> pieces;
    std::vector<model::TaskPlacement> places;  // of the beneficiary, in the Coming view
    // The earliest time at which a job now protected by its minimum run may be paused.
    std::optional<TimePoint> protected_until;
};

struct Beneficiary {
    const cluster::Job& job;
    int tasks = 1;
    MilliGpu amount{0};
    model::Rule rule = model::Rule::Reclaim;
};

// The pieces to pause, or an empty list of pieces when nothing legal helps. The cluster is as
// before after the call.
Eviction find_victims(const PoolView& view, const Beneficiary& beneficiary);

}  // namespace berth::scheduling
