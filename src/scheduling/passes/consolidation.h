// SPDX-License-Identifier: Apache-2.0
//
// Do running jobs move so that a job that waits fits? GPUs enough idle apart then (moves.h). Asked
// for jobs that can be paused too, and in one decision for at most kMoveSearchesMax, those that
// come first in the order.
#pragma once

#include "scheduling/moves/moves.h"
#include "scheduling/passes/decision.h"

namespace berth::scheduling {

inline constexpr int kMoveSearchesMax = 32;

// The searches of one decision in one pool.
class Consolidation {
  public:
    // Both outlive it. `searches`: how many this decision has made in any pool.
    Consolidation(Decision& decision, const PoolView& view, int& searches);

    // As far as counts say.
    bool could_help(const cluster::JobClassKey& job_class) const;
    // Moves others and reserves their places for the job. Trusts: could_help() said yes of its job
    // class. `opening`: of its backfill reservations.
    Changed serve(const cluster::Job& job, Backfill::Opening& opening);
    // Says that what any job holds, or what is free, has changed.
    void forget() { search_.forget(); }

  private:
    Decision& decision_;
    const PoolView& view_;
    int& searches_;
    MoveSearch search_;
};

}  // namespace berth::scheduling
