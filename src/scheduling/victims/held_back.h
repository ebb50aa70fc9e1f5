// SPDX-License-Identifier: Apache-2.0
//
// What keeps a job from having others preempted although it has a right to that, and until when?
// Its delay, the waste budget, or minimum runs (minimum_run.h): these where a search for victims
// finds no victim now and one once they have all ended, with the cluster otherwise as it is.
// Cost: nothing much where no job is within a minimum run, else two searches.
#pragma once

#include <optional>

#include "model/answer/verdict.h"
#include "scheduling/rights/victim_terms.h"

namespace berth::scheduling {

struct HeldBack {
    model::Cause cause;
    TimePoint until;    // no job may be preempted for it before
    MilliGpu in_use{0};  // by those within their minimum run whom it may preempt then
};

// What a decision asks before it searches for victims: the delay and the budget.
std::optional<HeldBack> must_wait(const PoolView& view, const Beneficiary& beneficiary);

// By its right to take back `amount`, what the job asks as it counts in quotas and shares, else by
// its right inside its project.
std::optional<HeldBack> held_back(const PoolView& view, const cluster::Job& job, MilliGpu amount);

}  // namespace berth::scheduling
