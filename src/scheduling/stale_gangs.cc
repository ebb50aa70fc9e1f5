// SPDX-License-Identifier: Apache-2.0
#include "scheduling/stale_gangs.h"

#include <algorithm>

#include "scheduling/pieces.h"

namespace berth::scheduling {
namespace {

model::Pause pause_of(const cluster::Job& job, TimePoint now) {
    model::Pause pause;
    pause.job = job.id;
    pause.rule = model::Rule::Stale;
    MilliGpu gpus{0};
    for (const cluster::PlacedTask& task : job.placed) {
        if (task.is_releasing) continue;
        pause.tasks.push_back(task.place.task);
        gpus += task.place.gpus();
    }
    pause.cost = pause_cost(job, gpus, now);
    return pause;
}

}  // namespace

StaleGangs stale_gangs(const cluster::Cluster& cluster, const model::Policy& policy,
                       TimePoint now) {
    StaleGangs found;
    for (const auto& [id, stale] : cluster.history().stale) {
        const cluster::Job& job = cluster.job(id);
        const model::Duration grace = stale.grace.value_or(policy.stale_grace);
        const bool is_stale = job.is_short() && !job.hold;
        if (!is_stale || grace < model::Duration{0}) continue;
        const TimePoint due = stale.since + grace;
        if (due <= now) {
            found.pauses.push_back(pause_of(job, now));
        } else {
            found.next = std::min(found.next.value_or(due), due);
        }
    }
    return found;
}

}  // namespace berth::scheduling
