// SPDX-License-Identifier: Apache-2.0
//
// What every stage of a decision looks at: one pool of the cluster, the policy, the present and
// the fair shares. Shares stay valid for a whole decision: starting or pausing a job moves its
// GPUs between "held" and "wanted", and R1 divides by the sum of both.
#pragma once

#include <algorithm>
#include <memory_resource>
#include <set>
#include <span>
#include <utility>

#include "cluster/cluster.h"
#include "cluster/gang.h"
#include "cluster/regions.h"
#include "model/policy/policy.h"
#include "scheduling/shares/fair_share.h"

namespace berth::scheduling {

using base::DomainId;
using base::JobId;
using base::NodeId;
using base::ShapeId;
using cluster::View;
using model::TimePoint;

// Some jobs, on a path that is taken often: its maker says whose memory it uses.
using JobSet = std::pmr::set<JobId>;

struct PoolView {
    cluster::Cluster& cluster;
    const model::Policy& policy;
    TimePoint now;
    PoolId pool;
    Shares shares;
    // Of the decision in progress; null = none.
    const JobSet* started_now = nullptr;  // jobs that it starts: they have nothing to lose yet
    const JobSet* started_reserved = nullptr;  // that start as promised: their minimum run begins
    const JobSet* moved = nullptr;  // that it moves as a whole
    const JobSet* unseen = nullptr;  // that start since victims were first looked for
    const JobSet* untouchable = nullptr;  // no unit of these may be taken, by any right
    // Unsaved work that its pauses destroy, those of owners left aside (waste_budget.h).
    std::int64_t wasted_gpu_ms = 0;

    const cluster::Claim& claim(ProjectId project) const { return cluster.claim(pool, project); }
    // What its quota is worth: less than written where too much is promised.
    MilliGpu quota(ProjectId project) const { return shares.quota[project.index()]; }
    MilliGpu allocated(ProjectId project) const { return claim(project).usage.allocated; }
    // Whether the node is in the pool for good, or is to join it once nothing runs on it.
    bool has_for_good(NodeId node) const {
        const PoolId joined = cluster.nodes()[node.index()].pool;
        return (misplaced(node) ? cluster.belongs_to(node) : joined) == pool;
    }
    bool misplaced(NodeId node) const { return cluster.membership().misplaced.contains(node); }
    // The domains of one that is to join the pool are not known before it has.
    bool is_in(const cluster::Region& region, NodeId node) const {
        return misplaced(node) ? region.is_whole_pool() : cluster::is_in(cluster, region, node);
    }
    ProjectId parent(ProjectId project) const { return cluster.projects()[project.index()].parent; }
};

// Calls `visit` with every job that has tasks on the node, once.
inline void visit_jobs_on(const cluster::Cluster& cluster, NodeId node, auto&& visit) {
    const std::span<const JobId> jobs = cluster.jobs_on(node);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const auto before = jobs.first(i);
        if (std::ranges::find(before, jobs[i]) == before.end()) visit(jobs[i]);
    }
}

inline bool has(const JobSet* jobs, JobId job) { return jobs != nullptr && jobs->contains(job); }

// The memory of `room` is used again.
inline PoolView view_pool(cluster::Cluster& cluster, const model::Policy& policy, TimePoint now,
                          PoolId pool, Shares memory = {}) {
    return {cluster, policy, now, pool,
            fair_shares(cluster, pool, policy, now, nullptr, std::move(memory))};
}

// When a job was submitted: which of two came first.
using Came = std::pair<TimePoint, JobId>;
inline Came came(const cluster::Job& job) { return {job.created, job.id}; }

// The most that `tasks` more tasks of the job and the companions that it lacks may count for in its
// project: what bounds and rights are asked about, so that they hold whatever nodes it goes to.
inline MilliGpu ask_gpus(const PoolView& view, const cluster::Job& job, int tasks) {
    return view.cluster.most_gpus(job.shape, view.pool) * tasks +
           cluster::gpus_of_lacking_companions(view.cluster, job, view.pool,
                                               &cluster::Cluster::most_gpus);
}

// The same of what the next job of a job class asks.
inline MilliGpu ask_gpus(const PoolView& view, const cluster::JobClassKey& job_class) {
    const cluster::Cluster& cluster = view.cluster;
    if (job_class.singleton.is_valid())
        return ask_gpus(view, cluster.job(job_class.singleton), job_class.ask);
    const MilliGpu tasks = cluster.most_gpus(job_class.shape, view.pool) * job_class.ask;
    // One that runs and lacks some of them is alone in its job class.
    if (job_class.gang_phase > 0) return tasks;
    return tasks + cluster::gpus_of_companions(cluster, cluster.shape(job_class.shape), view.pool,
                                               &cluster::Cluster::most_gpus);
}

// The GPUs that `tasks` more tasks of the job and the companions that it lacks take, however they
// count.
inline MilliGpu gpus_for(const PoolView& view, const cluster::Job& job, int tasks) {
    return view.cluster.footprint(job.shape, view.pool) * tasks +
           cluster::gpus_of_lacking_companions(view.cluster, job, view.pool,
                                               &cluster::Cluster::footprint);
}

}  // namespace berth::scheduling
