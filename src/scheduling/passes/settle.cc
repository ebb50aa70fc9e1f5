// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/settle.h"

#include <algorithm>
#include <map>

namespace berth::scheduling {
namespace {

// Whether a job starts whose start makes room. A frozen job gives up host memory that was kept for
// it, and then it may grow. A share may lessen what is set aside for the fixed quota of its project
// by more than what it takes of the pool.
bool has_opening_start(Decision& decision) {
    return std::ranges::any_of(decision.plan().starts, [&](const model::Start& start) {
        const cluster::Job& job = decision.cluster().job(start.job);
        const bool is_share = start.tasks.front().share != base::kWholeGpu;
        return job.pinned.node.is_valid() ||
               (is_share && decision.cluster().pool(job.pool).has_fixed_quota);
    });
}

// Work that leaves changes what others have a right to, what is started what is reserved and what
// too large quotas are worth, and, where GPU models are exchanged, by which of them it got, what
// its project is due; what was promised to one may be another's now; and a job that is given GPUs
// may have to move next.
bool may_leave_more_to_decide(Decision& decision) {
    const model::Plan& plan = decision.plan();
    const auto is_unsettled = [&](const PoolView& view) {
        return !decision.backfill(view).empty() || !view.shares.overcommitted.empty() ||
               !view.cluster.pool(view.pool).exchange.empty();
    };
    if (plan.is_empty()) return false;
    return decision.frees_gpus() || !plan.dropped.empty() || !decision.started_reserved().empty() ||
           decision.has_untouchable() || has_opening_start(decision) ||
           std::ranges::any_of(decision.pools(), is_unsettled);
}

void wake_at_rank_changes(Decision& decision) {
    cluster::Cluster& cluster = decision.cluster();
    if (const auto change = next_rank_change(cluster)) decision.wake_at(*change);
    std::pmr::map<JobId, MilliGpu> given(decision.cache().nodes());
    for (const model::Start& start : decision.plan().starts) {
        for (const model::TaskPlacement& task : start.tasks) given[start.job] += task.gpus();
    }
    for (const auto& [job, gpus] : given) {
        const auto change = rank_change_once_given(cluster, job, gpus, decision.now());
        if (change) decision.wake_at(*change);
    }
}

}  // namespace

void settle(Decision& decision) {
    wake_at_rank_changes(decision);
    if (may_leave_more_to_decide(decision)) decision.wake_at(decision.now());
}

}  // namespace berth::scheduling
