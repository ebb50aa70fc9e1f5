// SPDX-License-Identifier: Apache-2.0
//
// Does a job wait for nothing but what others use of nodes, and of which node?
//
// Guarantees: for a job whose tasks may stand anywhere, yes means that the nodes do not take it and
// would if others used nothing of them. Ties: the node of which others use most GPUs, then the
// first. Cost: a few sums for each of the nodes; O(1) on a cluster without others.
#pragma once

#include <optional>
#include <span>

#include "scheduling/supposed_slots.h"

namespace berth::scheduling {

struct OthersInTheWay {
    NodeId node;
    int gpus =
        0;  // of the node, that others use; 0 = it is CPU, memory or another resource that lacks
};

std::optional<OthersInTheWay> others_in_the_way(const PoolView& view, ShapeId shape, int tasks,
                                                std::span<const NodeId> nodes, Moment moment);

}  // namespace berth::scheduling
