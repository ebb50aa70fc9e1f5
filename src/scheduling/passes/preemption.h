// SPDX-License-Identifier: Apache-2.0
//
// Is other work paused for a job that waits: of other projects, as an owner reclaims (reclaim.h),
// or of its own, by priority and rank? Which work that is says victims.h; here stand the right to
// ask, the delays and budgets, what becomes of the plan, and reservations that give way to an
// owner.
#pragma once

#include <optional>

#include "scheduling/passes/decision.h"
#include "scheduling/rights/refusals.h"

namespace berth::scheduling {

// Of one decision, in all pools.
class Preemption {
  public:
    explicit Preemption(Decision& decision);

    // As far as sums say. Guarantees: where it says no, serve() does nothing.
    bool could_help(const PoolView& view, ProjectId project, const cluster::JobClassKey& job_class,
                    model::Rule rule);
    // Pauses others and reserves their GPUs for the job. `opening`: of its backfill reservations.
    Changed serve(const PoolView& view, const cluster::Job& job, model::Rule rule,
                  Backfill::Opening& opening);
    // Says that what any job holds, or what is free, has changed.
    void forget(const PoolView& view);
    // Says that jobs moved, which other searches took for standing where they were.
    void note_moves(const PoolView& view);

  private:
    Changed pause_victims(const PoolView& view, const Beneficiary& beneficiary,
                          Backfill::Opening& opening);
    Changed take_reservations(const PoolView& view, const Beneficiary& beneficiary,
                              Backfill::Opening& opening);
    bool withdraws_from_owner(const PoolView& view, const FoundVictims& victims);
    Changed drop_reservations(const PoolView& view, const Beneficiary& beneficiary,
                              const Backfill::Opening& opening);
    void note_withdrawals(const PoolView& view, const Beneficiary& beneficiary,
                          const VictimSearch& search, const FoundVictims& found);
    FoundVictims find_victims(const PoolView& view, const Beneficiary& beneficiary);
    VictimSearch& search_in(const PoolView& view);

    Decision& decision_;
    base::SmallVector<bool, 4> is_open_;  // by pool: its search for victims
    std::size_t started_before_ = 0;  // starts of the plan that the searches know
    Refusals refused_;
};

}  // namespace berth::scheduling
