// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/allocate.h"

#include <algorithm>

#include "scheduling/place/place.h"
#include "scheduling/rights/minimum_run.h"
#include "scheduling/rights/quota_gate.h"
#include "scheduling/rights/reclaim.h"

namespace berth::scheduling {

using cluster::Job;
using model::Rule;

namespace {

// An owner would pause others for the job: who could reclaim GPUs may take them while idle.
bool could_reclaim(const PoolView& view, const Job& job, MilliGpu amount) {
    return may_reclaim(view, job, amount) &&
           could_be_freed(view, job.project, amount, counting_of(view, job.shape), MilliGpu{0});
}

}  // namespace

bool may_have(const PoolView& view, const Job& job, const Backfill::Opening& opening) {
    const MilliGpu amount = ask_gpus(view, job, job.ask());
    if (quota_gate(view, job, amount)) return false;
    if (amount == MilliGpu{0} && job.ask() == 0) return true;  // companions alone
    return !opening.keeps_share() || (job.preemptible && could_reclaim(view, job, amount));
}

bool allocate(Decision& decision, const PoolView& view, const Job& job,
              const Backfill::Opening& opening) {
    if (!may_have(view, job, opening)) return false;
    if (const auto places = place(view, job, job.ask(), View::Idle)) {
        decision.start(job.id, view.pool, Rule::Allocate, *places);
        return true;
    }
    return is_anything_being_left(view) && reserve_leavings(decision, view, job, opening);
}

bool reserve_leavings(Decision& decision, const PoolView& view, const Job& job,
                      const Backfill::Opening& opening) {
    if (!may_have(view, job, opening)) return false;
    const auto places = place(view, job, job.ask(), View::Coming);
    if (!places) return false;
    decision.reserve(job.id, view.pool, Rule::Allocate, *places);
    return true;
}

bool is_anything_being_left(const PoolView& view) {
    const cluster::PoolState& pool = view.cluster.pool(view.pool);
    return pool.free_total[0] != pool.free_total[1] ||
           pool.free[0].in_parts() != pool.free[1].in_parts() ||
           view.cluster.resources().are_being_left() ||
           std::ranges::any_of(view.cluster.pools(), [](const cluster::PoolState& any) {
               return any.hosts_being_left > 0;
           });
}

bool could_start(Decision& decision, const PoolView& view, const ClassHead& head) {
    const cluster::JobClassKey& job_class = head.job_class;
    if (job_class.ask == 0) return true;  // companions alone
    const bool may_fit = !exceeds_capacity(view, job_class.shape, job_class.ask, View::Coming) &&
                         !exceeds_largest_part(view, job_class.shape, View::Coming);
    return may_fit || decision.backfill(view).could_open_for(job_class.shape, head.job);
}

std::optional<TimePoint> grows_from(const PoolView& view, const cluster::JobClassKey& job_class) {
    if (!job_class.singleton.is_valid()) return {};
    const Job& job = view.cluster.job(job_class.singleton);
    if (!job.grows_by_restart()) return {};
    const TimePoint due = protected_until(view, job, Rule::Preempt, job.project);
    if (due <= view.now) return {};
    return due;
}

}  // namespace berth::scheduling
