// SPDX-License-Identifier: Apache-2.0
//
// Do running jobs move so that a job that waits fits? GPUs enough idle apart then (moves.h). Asked
// for jobs that can be paused too, and in one decision for at most kMoveSearchesMax, those that
// come first in the order.
#pragma once

#include <optional>

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
    void forget() {
        search_.forget();
        refused_.clear();
    }

  private:
    // What moves are looked for. Where none were found for one, another that asks the same and has
    // waited no longer, so that moves for it may cost no more, finds none either.
    struct Question {
        ShapeId shape;
        int tasks;
        std::uint64_t opened;  // backfill reservations, one bit each
        TimePoint waiting_since;
    };
    // Nothing where the answer says nothing of others.
    static std::optional<Question> question(const cluster::Job& job,
                                            const Backfill::Opening& opening);
    bool is_refused(const Question& question) const;

    Decision& decision_;
    const PoolView& view_;
    int& searches_;
    MoveSearch search_;
    base::SmallVector<Question, 16> refused_;
};

}  // namespace berth::scheduling
