// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/stale_gangs.h"

#include <algorithm>
#include <utility>

#include "cluster/gang.h"
#include "scheduling/rights/victim_unit.h"

namespace berth::scheduling {
namespace {

model::Pause pause_of(const cluster::Shape& shape, const cluster::Job& job, TimePoint now) {
    const cluster::Ranks stale = cluster::stale_ranks(shape, job);
    model::Pause pause;
    pause.job = job.id;
    pause.rule = model::Rule::Stale;
    pause.tasks.assign(stale.begin(), stale.end());
    pause.whole_job = std::cmp_equal(stale.size(), job.active + job.companions);
    const bool stops_all = job.elastic == model::Elastic::Restart;
    MilliGpu gpus{0};
    for (const cluster::PlacedTask& task : job.placed) {
        const bool leaves = std::ranges::find(stale, task.place.task) != stale.end();
        const bool stops = !task.is_releasing && (leaves || stops_all);
        if (stops) gpus += task.place.gpus();
    }
    pause.cost = pause_cost(job, gpus, now);
    return pause;
}

}  // namespace

void pause_stale_gangs(Decision& decision) {
    std::vector<model::Pause> pauses;  // without a beneficiary
    for (const auto& [id, stale] : decision.cluster().history().stale) {
        const cluster::Job& job = decision.cluster().job(id);
        const model::Duration grace = stale.grace.value_or(decision.policy().stale_grace);
        const bool is_stale = job.is_short() && !job.reservation;
        if (!is_stale || grace < model::Duration{0}) continue;
        const TimePoint due = stale.since + grace;
        if (due <= decision.now()) {
            const cluster::Shape& shape = decision.cluster().shape(job.shape);
            pauses.push_back(pause_of(shape, job, decision.now()));
        } else {
            decision.wake_at(due);
        }
    }
    for (const model::Pause& pause : pauses) decision.pause(pause);
}

}  // namespace berth::scheduling
