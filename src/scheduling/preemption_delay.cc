// SPDX-License-Identifier: Apache-2.0
#include "scheduling/preemption_delay.h"

#include <algorithm>

namespace berth::scheduling {
namespace {

model::Duration delay_of(const PoolView& view, const cluster::Job& job) {
    if (job.preemption_delay != cluster::kOfProject) return job.preemption_delay;
    for (ProjectId at = job.project; at != cluster::kRoot; at = view.parent(at)) {
        const auto& project = view.cluster.projects()[at.index()].project;
        if (project.preemption_delay) return *project.preemption_delay;
    }
    return model::Duration{0};
}

}  // namespace

std::optional<TimePoint> delayed_until(const PoolView& view, const cluster::Job& job) {
    const TimePoint until = std::max(job.created, job.last_pause) + delay_of(view, job);
    if (until <= view.now) return {};
    return until;
}

bool is_delayed_alone(const PoolView& view, const cluster::Job& job) {
    return delayed_until(view, job) && job.created + delay_of(view, job) <= view.now;
}

}  // namespace berth::scheduling
