// SPDX-License-Identifier: Apache-2.0
//
// Whose work that could be paused stands on a node, and on how many of its GPUs? And on which
// nodes does a project's stand? One small table of the table of pieces, so that a question about a
// node is one line of memory instead of a walk through its pieces.
//
// Guarantees: no piece is left out but those that this decision took; what is protected or promised
// is counted too. Trusts: of projects that are not cut (pieces.h) it may tell of an earlier time.
// Cost: the pieces of each node that changed since it was last brought up to date.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/small_vector.h"
#include "cluster/free_index.h"
#include "scheduling/pieces.h"

namespace berth::scheduling {

class NodeWork {
  public:
    // Of one project, on one node.
    struct Part {
        ProjectId project;
        std::int32_t gpus = 0;
    };

    void bring_up_to_date(const PieceTable& pieces, const cluster::Cluster& cluster);
    std::span<const Part> on(NodeId node) const { return parts_[node.index()]; }
    const cluster::NodeSet& nodes_of(ProjectId project) const { return nodes_of_[project.index()]; }

  private:
    using Parts = base::SmallVector<Part, 8>;

    void look_at(const PieceTable& pieces, NodeId node);

    std::uint64_t mark_ = 0;  // in the log of the nodes that changed
    std::vector<Parts> parts_;  // by node
    std::vector<cluster::NodeSet> nodes_of_;  // by project
};

}  // namespace berth::scheduling
