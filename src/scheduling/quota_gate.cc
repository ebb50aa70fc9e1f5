// SPDX-License-Identifier: Apache-2.0
#include "scheduling/quota_gate.h"

#include <algorithm>

namespace berth::scheduling {
namespace {

bool is_fixed(const PoolView& view, ProjectId project) {
    return view.claim(project).rights.kind == model::QuotaKind::Fixed;
}

struct SetAside {
    MilliGpu total{0};
    MilliGpu largest{0};
    ProjectId owner;
};

// Sums what topmost fixed nodes below `parent` leave unused.
void sum_set_aside(const PoolView& view, ProjectId parent, SetAside& sum) {
    for (const ProjectId child : view.cluster.projects()[parent.index()].children) {
        if (!is_fixed(view, child)) {
            sum_set_aside(view, child, sum);
            continue;
        }
        const MilliGpu unused = view.claim(child).quota - view.allocated(child);
        if (unused <= MilliGpu{0}) continue;
        sum.total += unused;
        if (unused > sum.largest) {
            sum.largest = unused;
            sum.owner = child;
        }
    }
}

}  // namespace

MilliGpu set_aside(const PoolView& view) {
    SetAside sum;
    sum_set_aside(view, cluster::kRoot, sum);
    return sum.total;
}

std::optional<Denial> quota_gate(const PoolView& view, const cluster::Job& job, MilliGpu amount) {
    if (amount == MilliGpu{0}) return {};
    bool within_fixed = false;
    for (ProjectId at = job.project; at != cluster::kRoot; at = view.parent(at)) {
        const cluster::Claim& claim = view.claim(at);
        within_fixed |= is_fixed(view, at);
        if (claim.usage.allocated + amount > claim.limit) {
            return Denial{Gate::Limit, at, claim.usage.allocated, claim.limit};
        }
        if (!job.preemptible && claim.usage.not_preemptible + amount > claim.quota) {
            return Denial{Gate::Quota, at, claim.usage.not_preemptible, claim.quota};
        }
    }
    if (within_fixed) return {};
    SetAside aside;
    sum_set_aside(view, cluster::kRoot, aside);
    const MilliGpu allocated = view.allocated(cluster::kRoot);
    const MilliGpu lendable = view.cluster.pool(view.pool).capacity - aside.total;
    if (aside.total > MilliGpu{0} && allocated + amount > lendable) {
        return Denial{Gate::SetAside, aside.owner, allocated, lendable};
    }
    return {};
}

}  // namespace berth::scheduling
