// SPDX-License-Identifier: Apache-2.0
//
// Which nodes join another pool now? Only those on which nothing runs, is frozen or is promised:
//   misplaced    whose labels put them into another pool than the one they stand in: at once, or
//   when
//             their last work has left; they take no more of it
//   spares    where a pool names one that has its spares: the place of a node that is drained or
//             down is taken by an idle node like it (as many GPUs of the same model with the same
//             memory), the nearest by topology, then the first. The other becomes a spare, and
//             stays one when it is back.
// Decided before anything else, and alone: who waits is looked at when the nodes are where they
// belong. A spare that works is not cleared for this.
//
// A frozen job goes on where its processes are kept, and nowhere else. Where that node takes no
// more work it waits in vain and keeps the node from moving: after kFrozenPatience its processes
// are given up, and it starts anew elsewhere with what it has saved. What is parked, or paused by a
// user, does not wait; it keeps its node like work that runs.
//
// Cost: nothing when no node is misplaced or unavailable.
#pragma once

#include <optional>
#include <vector>

#include "cluster/cluster.h"
#include "model/plan.h"

namespace berth::scheduling {

// Long enough to undo a label that was a mistake.
inline constexpr model::Duration kFrozenPatience{10 * 60 * 1000};

std::vector<model::NodeMove> node_moves(const cluster::Cluster& cluster);

struct GivenUp {
    std::vector<base::JobId> jobs;  // frozen, by id
    std::optional<model::TimePoint> next;  // when there may be more
};
GivenUp given_up(const cluster::Cluster& cluster, model::TimePoint now);

// Makes these moves, and says which; for those who decide on a copy.
std::vector<model::NodeMove> move_nodes(cluster::Cluster& copy);

}  // namespace berth::scheduling
