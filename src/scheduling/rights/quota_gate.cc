// SPDX-License-Identifier: Apache-2.0
#include "scheduling/rights/quota_gate.h"

#include <algorithm>

#include "cluster/gang.h"

namespace berth::scheduling {
namespace {

using model::Cause;

bool is_fixed(const PoolView& view, ProjectId project) {
    return view.claim(project).rights.kind == model::QuotaKind::Fixed;
}

struct SetAside {
    MilliGpu total{0};
    MilliGpu largest{0};
    ProjectId owner;
};

// Sums what topmost fixed nodes below `parent` other than `asker` leave unused.
void sum_set_aside(const PoolView& view, ProjectId parent, ProjectId asker, SetAside& sum) {
    for (const ProjectId child : view.cluster.projects()[parent.index()].children) {
        if (child == asker) continue;
        if (!is_fixed(view, child)) {
            sum_set_aside(view, child, asker, sum);
            continue;
        }
        const MilliGpu unused = view.quota(child) - view.allocated(child);
        if (unused <= MilliGpu{0}) continue;
        sum.total += unused;
        if (unused > sum.largest) {
            sum.largest = unused;
            sum.owner = child;
        }
    }
}

// As GPUs count. Where models are exchanged, what runs on nodes that are away counts as well.
MilliGpu room_of_pool(const PoolView& view) {
    const cluster::PoolState& pool = view.cluster.pool(view.pool);
    if (pool.exchange.empty()) return pool.free_total[static_cast<std::size_t>(View::Coming)];
    return pool.counted_capacity - view.allocated(cluster::kRoot);
}

ProjectId fixed_above(const PoolView& view, ProjectId project) {
    ProjectId at = view.parent(project);
    while (at != cluster::kRoot && !is_fixed(view, at)) at = view.parent(at);
    return at;
}

// Within a fixed quota its own bound is all there is to share; outside, and for what it takes above
// the part of it that is in force, what the pool has.
std::optional<Denial> set_aside_gate(const PoolView& view, ProjectId project, MilliGpu amount) {
    for (ProjectId at = project; at != cluster::kRoot; at = fixed_above(view, at)) {
        // These are the ones set aside for it, as far as its limit of the parent has them.
        if (is_fixed(view, at) && view.allocated(at) + amount <= view.quota(at)) continue;
        const ProjectId parent_limit = fixed_above(view, at);
        SetAside aside;
        sum_set_aside(view, parent_limit, at, aside);
        if (aside.total == MilliGpu{0}) continue;
        const MilliGpu left = parent_limit == cluster::kRoot
                                  ? room_of_pool(view)
                                  : view.claim(parent_limit).limit - view.allocated(parent_limit);
        const MilliGpu lendable = std::max(left - aside.total, MilliGpu{0});
        if (amount > lendable) {
            return Denial{Cause::SetAsideForFixedQuotas, aside.owner, aside.total, lendable};
        }
    }
    return {};
}

// What of CPU and memory bounds a job.
std::optional<Denial> host_gate(const PoolView& view, const cluster::Job& job,
                                const cluster::HostAsk& asks) {
    for (ProjectId at = job.project; at != cluster::kRoot; at = view.parent(at)) {
        const cluster::Claim& claim = view.claim(at);
        auto denial = host_denial(claim.rights, HostBound::Limit, claim.usage.host, asks);
        if (!denial && !job.preemptible) {
            denial = host_denial(claim.rights, HostBound::QuotaForNotPreemptible,
                                 claim.usage.host_not_preemptible, asks);
        }
        if (!denial) continue;
        denial->at = at;
        return denial;
    }
    return {};
}

}  // namespace

std::optional<Denial> host_denial(const model::Entitlement& rights, HostBound bound,
                                  const cluster::HostAsk& used, const cluster::HostAsk& asks) {
    struct Causes {
        Cause cpu;
        Cause memory;
    };
    static constexpr Causes kCauses[] = {
        {Cause::CpuLimitReached, Cause::MemoryLimitReached},
        {Cause::NonPreemptibleCpuQuotaReached, Cause::NonPreemptibleMemoryQuotaReached},
        {Cause::AboveCpuQuota, Cause::AboveMemoryQuota}};
    const Causes& causes = kCauses[static_cast<std::size_t>(bound)];
    const bool is_limit = bound == HostBound::Limit;
    const auto& cpu = is_limit ? rights.cpu_limit : rights.cpu_quota;
    if (cpu && asks.cpu > 0 && used.cpu + asks.cpu > cpu->value) {
        return Denial{causes.cpu, {}, {}, {}, {asks.cpu, used.cpu, cpu->value}};
    }
    const auto& memory = is_limit ? rights.memory_limit : rights.memory_quota;
    const std::int64_t used_bytes = used.mebibytes << 20;
    const std::int64_t bytes = asks.mebibytes << 20;
    if (memory && bytes > 0 && used_bytes + bytes > memory->value) {
        return Denial{causes.memory, {}, {}, {}, {bytes, used_bytes, memory->value}};
    }
    return {};
}

std::optional<Denial> above_host_quota(const PoolView& view, const cluster::Job& job) {
    const auto asks = cluster::stated_together(view.cluster, job, job.ask());
    for (ProjectId at = job.project; at != cluster::kRoot; at = view.parent(at)) {
        const cluster::Claim& claim = view.claim(at);
        auto denial = host_denial(claim.rights, HostBound::Quota, claim.usage.host, asks);
        if (!denial) continue;
        denial->at = at;
        return denial;
    }
    return {};
}

bool is_above_own_quota(const PoolView& view, ProjectId project, MilliGpu amount) {
    for (ProjectId at = project; at != cluster::kRoot; at = view.parent(at)) {
        const cluster::Claim& claim = view.claim(at);
        if (claim.usage.not_preemptible + amount > claim.quota) return true;
    }
    return false;
}

bool is_set_aside(const PoolView& view, ProjectId project) {
    return is_fixed(view, project) || fixed_above(view, project) != cluster::kRoot;
}

std::optional<Denial> quota_gate(const PoolView& view, const cluster::Job& job, MilliGpu amount,
                                 std::optional<int> tasks) {
    const cluster::PoolState& pool = view.cluster.pool(view.pool);
    if (pool.has_host_limit || pool.has_host_quota) {
        const auto asks = cluster::stated_together(view.cluster, job, tasks.value_or(job.ask()));
        if (const auto denial = host_gate(view, job, asks)) return denial;
    }
    if (amount == MilliGpu{0}) return {};
    for (ProjectId at = job.project; at != cluster::kRoot; at = view.parent(at)) {
        const cluster::Claim& claim = view.claim(at);
        if (claim.usage.allocated + amount > claim.limit) {
            const Cause cause = is_fixed(view, at) ? Cause::FixedQuotaReached : Cause::LimitReached;
            return Denial{cause, at, claim.usage.allocated, claim.limit};
        }
        if (!job.preemptible && claim.usage.not_preemptible + amount > claim.quota) {
            return Denial{Cause::NonPreemptibleQuotaReached, at, claim.usage.not_preemptible,
                          claim.quota};
        }
    }
    if (!pool.has_fixed_quota) return {};
    return set_aside_gate(view, job.project, amount);
}

}  // namespace berth::scheduling
