// SPDX-License-Identifier: Apache-2.0
//
// Whose work that could be paused stands on a node, on which of its GPUs, and what would its pause
// destroy? And on how many GPUs of each node does a project's stand? So that a question about a
// node is a line or two of memory for each job, instead of a walk through its units.
//
// Guarantees: no job is left out, and none loses less; what is protected or promised is counted
// too. Cost: the jobs on each node that changed since it was last brought up to date.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/small_vector.h"
#include "cluster/jobs/units.h"
#include "cluster/nodes/free_index.h"
#include "cluster/nodes/node_counts.h"
#include "scheduling/rights/pool_view.h"
#include "scheduling/rights/reclaim.h"

namespace berth::scheduling {

// Calls `visit(job, gpus)` with every job of the pool that could be paused and runs on the node.
template <typename Visit>
void visit_victims(const PoolView& view, NodeId node, Visit&& visit) {
    visit_jobs_on(view.cluster, node, [&](JobId id) {
        const cluster::Job& job = view.cluster.job(id);
        if (!job.is_victim() || job.pool != view.pool) return;
        int gpus = 0;
        for (const auto& [place, is_releasing] : job.placed) {
            if (place.node == node && !is_releasing) gpus += std::popcount(place.gpu_mask);
        }
        visit(job, gpus);
    });
}

class NodeWork {
  public:
    // What one job holds on one node, and what its pause destroys: all of it where the job stops as
    // a whole, else what the tasks here lose at least.
    struct JobPart {
        ProjectId project;
        std::uint64_t gpu_mask = 0;
        bool is_whole = true;  // it shares none of them
        MilliGpu freed{0};  // of each of them, at most
        cluster::LossKey loss;  // but its priority: that changes more often, ask the job
        UnitSize size;  // for the ledger, at least
        TimePoint last_start;
        model::Duration minimum_run{0};  // kOfProject: the policy's
        model::Duration restart_cost{0};

        // As long as only jobs and the policy say so (minimum_run.h).
        TimePoint protected_until(const model::Policy& policy) const;
    };
    // Of one project, on one node.
    struct Part {
        ProjectId project;
        std::int32_t gpus = 0;
        std::int32_t widest = 0;  // of one job
        bool is_whole = true;  // no GPU is shared
    };

    void bring_up_to_date(const PoolView& view);
    std::span<const Part> on(NodeId node) const { return parts_[node.index()]; }
    std::span<const JobPart> jobs_on(NodeId node) const { return of_jobs_[node.index()]; }
    const cluster::NodeCounts& gpus_of(ProjectId project) const {
        return gpus_of_[project.index()];
    }
    const cluster::NodeSet& shared_nodes() const { return shared_nodes_; }  // GPUs of theirs are

  private:
    using Parts = base::SmallVector<Part, 8>;

    void look_at(const PoolView& view, NodeId node);

    std::uint64_t mark_ = 0;  // in the log of the nodes that changed
    std::vector<Parts> parts_;  // by node
    std::vector<std::vector<JobPart>> of_jobs_;  // by node
    std::vector<cluster::NodeCounts> gpus_of_;  // by project: the GPUs of its parts
    cluster::NodeSet shared_nodes_;
};

}  // namespace berth::scheduling
