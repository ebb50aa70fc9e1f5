// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/rehouse.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "scheduling/place/place.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::scheduling {

using cluster::Job;

namespace {

void rehouse_in(Decision& decision, const PoolView& view) {
    std::pmr::map<JobId, int> parts(decision.cache().nodes());
    for (const model::Pause& pause : decision.plan().pauses) ++parts[pause.job];
    std::pmr::vector<const Job*> leaving(decision.cache().nodes());
    for (const model::Pause& pause : decision.plan().pauses) {
        const Job& job = view.cluster.job(pause.job);
        const bool is_at_once = pause.whole_job && parts[pause.job] == 1;
        if (is_at_once && job.pool == view.pool && job.may_run) leaving.push_back(&job);
    }
    std::ranges::sort(leaving, [](const Job* left, const Job* right) {
        return std::tuple(right->priority_key(), left->created, left->id) <
               std::tuple(left->priority_key(), right->created, right->id);
    });
    for (const Job* job : leaving) {
        const int tasks = job->tasks_placed();
        if (quota_gate(view, *job, ask_gpus(view, *job, tasks), tasks)) continue;
        if (auto places = place_anew(view, *job, View::Coming)) {
            decision.move_instead(job->id, view.pool, *places);
        }
    }
}

}  // namespace

void rehouse(Decision& decision) {
    if (decision.policy().moves_max == 0 || decision.plan().pauses.empty()) return;
    for (const PoolView& view : decision.pools()) rehouse_in(decision, view);
}

}  // namespace berth::scheduling
