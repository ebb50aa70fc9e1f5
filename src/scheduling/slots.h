// SPDX-License-Identifier: Apache-2.0
//
// How many tasks of one job fit on a node together? By arithmetic, without placing any: place.h
// finds room for exactly so many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scheduling/pool_view.h"

namespace berth::scheduling {

// Room for how many tasks of the shape each GPU of the node has, when free(gpu) of it is free.
template <typename Free>
std::vector<std::int64_t> parts_on(const PoolView& view, ShapeId shape, NodeId node, Free&& free) {
    const MilliGpu share = std::max(view.cluster.share_on(shape, node), MilliGpu{1});
    std::vector<std::int64_t> parts(view.cluster.nodes()[node.index()].gpus);
    for (std::size_t gpu = 0; gpu < parts.size(); ++gpu) {
        parts[gpu] = free(static_cast<int>(gpu)).value / share.value;
    }
    return parts;
}

// How many tasks of `gpus` distinct GPUs each fit, at most `tasks`, when GPU i has room for
// parts[i] of them: t tasks do when the sum of min(t, parts[i]) is at least t x gpus.
int most_tasks(const std::vector<std::int64_t>& parts, int gpus, int tasks);

// As things stand, at most `tasks`; 0 on a node that is not ready, not in the pool or not allowed.
int slots_now(const PoolView& view, ShapeId shape, NodeId node, View capacity, int tasks);

// If nobody else were there; whether it is ready or allowed is not asked.
enum class Host { Counted, Ignored };
int slots_when_empty(const PoolView& view, ShapeId shape, NodeId node, int tasks, Host host);

}  // namespace berth::scheduling
