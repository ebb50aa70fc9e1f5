// SPDX-License-Identifier: Apache-2.0
#include "idle_check.h"

#include <algorithm>
#include <set>

#include "judge.h"

namespace berth::proof {

using cluster::View;
using model::Rule;

std::vector<std::string> check_idle(const lifecycle::State& state, const model::Policy& policy,
                                    model::TimePoint now, const model::Plan& plan) {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < state.cluster.pools().size(); ++i) {
        const base::PoolId pool{static_cast<base::PoolId::Rep>(i)};
        const std::set<JobId> none;
        const RuleShares shares = rule_shares(state.cluster, pool, policy, now);
        const Judge judge(state.cluster, policy, now, pool, shares, none, none);
        const Room idle = judge.room(View::Idle);
        const Room coming = judge.room(View::Coming);
        for (const auto& [id, job] : state.cluster.jobs()) {
            const auto pools = state.cluster.pools_wanted(job);
            if (!job.is_waiting() || std::ranges::find(pools, pool) == pools.end()) continue;
            // A reserved gang's own project leaves it its share.
            const bool leaves_share =
                std::ranges::any_of(plan.backfill, [&](const auto& backfill_reservation) {
                    return state.cluster.job(backfill_reservation.job).project == job.project;
                });
            if (leaves_share) continue;
            if (job.grows_by_restart() && judge.is_young(job, Rule::Preempt, job.project)) continue;
            const Want want = judge.want(job, Rule::Allocate);
            if (judge.passes_gates(without_kept(coming, plan, id), want) &&
                judge.fits(without_kept(idle, plan, id), want)) {
                found.push_back("I10: job " + std::to_string(id.value) +
                                " waits although it fits and may run");
            }
        }
    }
    return found;
}

}  // namespace berth::proof
