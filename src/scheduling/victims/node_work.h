// SPDX-License-Identifier: Apache-2.0
//
// Whose work that could be paused stands on a node, and on how many of its GPUs? And on which
// nodes does a project's stand? One small table of the table of units, so that a question about a
// node is one line of memory instead of a walk through its units.
//
// Guarantees: no job is left out; what is protected or promised is counted too. Cost: the jobs on
// each node that changed since it was last brought up to date.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/small_vector.h"
#include "cluster/nodes/free_index.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// Calls `visit(job, gpus, is_whole)` with every job of the pool that could be paused and runs on
// the node.
template <typename Visit>
void visit_victims(const PoolView& view, NodeId node, Visit&& visit) {
    visit_jobs_on(view.cluster, node, [&](JobId id) {
        const cluster::Job& job = view.cluster.job(id);
        if (!job.is_victim() || job.pool != view.pool) return;
        int gpus = 0;
        bool is_whole = true;
        for (const auto& [place, is_releasing] : job.placed) {
            if (place.node != node || is_releasing) continue;
            gpus += std::popcount(place.gpu_mask);
            is_whole &= place.gpu_mask == 0 || place.share == base::kWholeGpu;
        }
        visit(job, gpus, is_whole);
    });
}

class NodeWork {
  public:
    // Of one project, on one node.
    struct Part {
        ProjectId project;
        std::int32_t gpus = 0;
        std::int32_t widest = 0;  // of one job
        bool is_whole = true;   // no GPU is taken in part
    };

    void bring_up_to_date(const PoolView& view);
    std::span<const Part> on(NodeId node) const { return parts_[node.index()]; }
    const cluster::NodeSet& nodes_of(ProjectId project) const { return nodes_of_[project.index()]; }

  private:
    using Parts = base::SmallVector<Part, 8>;

    void look_at(const PoolView& view, NodeId node);

    std::uint64_t mark_ = 0;  // in the log of the nodes that changed
    std::vector<Parts> parts_;  // by node
    std::vector<cluster::NodeSet> nodes_of_;  // by project
};

}  // namespace berth::scheduling
