// SPDX-License-Identifier: Apache-2.0
#include "scheduling/rights/preemption_delay.h"

#include <algorithm>

namespace berth::scheduling {
namespace {

model::Duration delay_of(const cluster::Cluster& cluster, const cluster::Job& job) {
    if (job.preemption_delay != cluster::kOfProject) return job.preemption_delay;
    for (ProjectId at = job.project; at != cluster::kRoot;
         at = cluster.projects()[at.index()].parent) {
        const auto& project = cluster.projects()[at.index()].project;
        if (project.preemption_delay) return *project.preemption_delay;
    }
    return model::Duration{0};
}

}  // namespace

std::optional<TimePoint> delayed_until(const cluster::Cluster& cluster, const cluster::Job& job,
                                       TimePoint now) {
    const TimePoint until = std::max(job.created, job.last_pause) + delay_of(cluster, job);
    if (until <= now) return {};
    return until;
}

bool is_delayed_alone(const PoolView& view, const cluster::Job& job) {
    return delayed_until(view, job) && job.created + delay_of(view.cluster, job) <= view.now;
}

}  // namespace berth::scheduling
