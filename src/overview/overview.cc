// SPDX-License-Identifier: Apache-2.0
#include "overview/overview.h"

#include <algorithm>

#include "cluster/gang.h"

namespace berth::overview {
namespace {

using model::JobState;

void count(JobCounts& counts, const model::JobRecord& record) {
    switch (record.state) {
        case JobState::Starting:
        case JobState::Running: ++counts.running; return;
        case JobState::Queued: ++(record.held ? counts.on_hold : counts.waiting); return;
        case JobState::Paused: ++(record.held ? counts.on_hold : counts.paused); return;
        case JobState::Pausing:
        case JobState::Cancelling: ++counts.leaving; return;
        case JobState::Succeeded:
        case JobState::Failed:
        case JobState::Cancelled: return;  // is no longer among them
    }
}

bool waits(const model::JobRecord& record) {
    const bool has_none = record.state == JobState::Queued || record.state == JobState::Paused;
    return has_none && !record.held;
}

// What it asks at least: of the first of its pools, as GPUs count there.
MilliGpu asked_by(const cluster::Cluster& cluster, const cluster::Job& job) {
    const cluster::Shape& shape = cluster.shape(job.shape);
    const base::PoolId pool = shape.pools.front();
    return cluster.demand(job.shape, pool) * job.least_tasks() +
           cluster::gpus_of_companions(cluster, shape, pool, &cluster::Cluster::demand);
}

ProjectUse use_of(const cluster::Cluster& cluster, base::ProjectId project) {
    ProjectUse use;
    use.name = cluster.projects()[project.index()].project.name;
    for (std::size_t p = 0; p < cluster.pools().size(); ++p) {
        const base::PoolId pool{static_cast<base::PoolId::Rep>(p)};
        if (cluster.pool(pool).name.empty()) continue;  // removed
        const cluster::Claim& claim = cluster.claim(pool, project);
        const MilliGpu used = claim.usage.allocated;
        const bool is_bounded = claim.quota < model::kUnlimited;
        const MilliGpu quota = is_bounded ? claim.quota : cluster.pool(pool).counted_capacity;
        use.quota += quota;
        use.used += used;
        use.borrowed += std::max(used - quota, MilliGpu{0});
        use.unused += std::max(quota - used, MilliGpu{0});
    }
    return use;
}

}  // namespace

// What is idle is what a job could have: of a shared GPU, as much as there is both of time and
// memory. What is used is the rest.
GpuCounts gpu_counts_of(const lifecycle::State& state) {
    using model::GpuUse;
    const model::GpuTimes uses = state.ledger.uses();
    GpuCounts gpus;
    gpus.total = {uses.sum() - uses[GpuUse::Others]};
    gpus.starting = {uses[GpuUse::Starting]};
    gpus.leaving = {uses[GpuUse::Leaving]};
    gpus.not_ready = {uses[GpuUse::Unhealthy]};
    for (const cluster::PoolState& pool : state.cluster.pools()) {
        constexpr auto kIdle = static_cast<std::size_t>(cluster::View::Idle);
        gpus.idle += pool.free_total[kIdle];
        gpus.idle_together =
            std::max(gpus.idle_together, pool.free[kIdle].free_together(pool.gpus_per_node_max));
    }
    gpus.used = gpus.total - gpus.idle - gpus.not_ready - gpus.starting - gpus.leaving;
    return gpus;
}

JobCounts Overview::jobs_of(std::string_view user) const {
    const auto found = of_users.find(user);
    return found == of_users.end() ? JobCounts{} : found->second;
}

Overview overview_of(const lifecycle::State& state) {
    const cluster::Cluster& cluster = state.cluster;
    Overview overview;
    overview.has_run_any = state.last_job.value > 0;
    overview.gpus = gpu_counts_of(state);
    std::vector<MilliGpu> wanted(cluster.projects().size());
    for (const auto& [id, record] : state.jobs) {
        count(overview.jobs, record);
        count(overview.of_users[record.user], record);
        if (!waits(record)) continue;
        const cluster::Job& job = cluster.job(id);
        const MilliGpu asked = asked_by(cluster, job);
        overview.wanted += asked;
        wanted[job.project.index()] += asked;
    }
    for (std::size_t i = 1; i < cluster.projects().size(); ++i) {
        const base::ProjectId project{static_cast<base::ProjectId::Rep>(i)};
        if (!cluster.is_leaf(project) || cluster.projects()[i].project.name.empty()) continue;
        overview.projects.push_back(use_of(cluster, project));
        overview.projects.back().wanted = wanted[i];
    }
    return overview;
}

}  // namespace berth::overview
