// SPDX-License-Identifier: Apache-2.0
//
// Which job is served next, and by what? Jobs in queue order (queue_order.h), each by the first of
// the ways that a pass allows: GPUs that work is leaving anyway, moves (consolidation.h), reclaim
// and preemption (preemption.h). A job that cannot be served closes its job class for the rest of
// the pass.
#pragma once

#include <set>

#include "scheduling/order/queue_order.h"
#include "scheduling/passes/consolidation.h"
#include "scheduling/passes/preemption.h"

namespace berth::scheduling {

// How a pass makes room.
struct Ways {
    bool moves = false;
    bool reclaims = false;
    bool preempts = false;

    bool any() const { return moves || reclaims || preempts; }
};

// All serving of one decision.
class Serving {
  public:
    explicit Serving(Decision& decision);

    // Gives idle GPUs, and those that are being left, to the jobs that are next. Idle GPUs of every
    // pool a job would take come before any work is paused for it in one.
    void allocate();
    // Makes room in these ways, one after the other through the whole queue: in the pool that jobs
    // like best, then in the next.
    void make_room(std::span<const Ways> passes);

  private:
    void allocate_in(const PoolView& view);
    void make_room_in(const PoolView& view, const Ways& ways, int preference);
    // Those of the ways that could help jobs of the job class, as far as counts and sums say.
    Ways useful(const PoolView& view, ProjectId project, const cluster::JobClassKey& job_class,
                const Ways& ways, const Consolidation& moves);

    // `passed`: the one that lets it pass.
    bool allocate_to(const PoolView& view, const cluster::Job& job,
                     const cluster::Job* passed = nullptr);
    Changed serve(const PoolView& view, const cluster::Job& job, const Ways& ways,
                  Consolidation* moves, const cluster::Job* passed = nullptr);
    bool fits_earlier(const PoolView& view, const cluster::Job& job);

    // --- jobs that let others pass (withdrawals.h)
    Changed withdraw_for(const PoolView& view, JobId turn);
    Changed serve_first(const PoolView& view, const StrongerJob& stronger,
                        const cluster::Job& passed);
    Changed serve_stronger(const PoolView& view, const cluster::Job& job, model::Rule rule,
                           const cluster::Job& passed);
    void withdraw_reservations(const PoolView& view, QueueOrder& order);
    bool is_turn_of_others(ProjectId project, const cluster::JobClassKey& job_class) const;

    Decision& decision_;
    Preemption preemption_;
    int move_searches_ = 0;
    bool is_deferred_ = false;  // a job waits for a pool it likes better
    // Where the jobs may stand that let others pass.
    base::SmallVector<std::pair<ProjectId, ShapeId>, 8> passing_;
    std::pmr::set<std::pair<JobId, PoolId>> has_withdrawn_;
};

}  // namespace berth::scheduling
