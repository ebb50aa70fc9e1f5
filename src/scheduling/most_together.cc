// SPDX-License-Identifier: Apache-2.0
#include "scheduling/most_together.h"

#include <algorithm>

#include "scheduling/place.h"

namespace berth::scheduling {

Together most_together(const PoolView& view, const cluster::Job& job,
                       const std::function<int(NodeId)>& tasks_on) {
    Together most{cluster::Region{DomainId{}, {}}, 0};
    for (const Region& region : required_regions(view, job)) {
        std::int64_t tasks = 0;
        cluster::visit_nodes(view.cluster, view.pool, region,
                             [&](NodeId node) { tasks += tasks_on(node); });
        tasks = std::min<std::int64_t>(tasks, job.tasks_min);
        const bool is_first = most.region.is_nowhere();
        if (is_first || tasks > most.tasks) most = {region, static_cast<int>(tasks)};
    }
    return most;
}

Together most_together_now(const PoolView& view, const cluster::Job& job) {
    Together most{cluster::Region{DomainId{}, {}}, 0};
    const Step step{job, job.ask(), View::Idle};
    for (const Region& region : required_regions(view, job)) {
        const bool is_first = most.region.is_nowhere();
        if (!is_first && room_for_tasks(view, step, region) <= most.tasks) continue;
        const int tasks = static_cast<int>(fill(view, job, job.ask(), View::Idle, region).size());
        if (is_first || tasks > most.tasks) most = {region, tasks};
    }
    return most;
}

}  // namespace berth::scheduling
