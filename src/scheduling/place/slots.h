// SPDX-License-Identifier: Apache-2.0
//
// How many tasks of one job fit on a node together? By arithmetic, without placing any: place.h
// finds room for exactly this many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// How many such parts one GPU has room for.
inline std::int64_t parts_in(const model::GpuPart& free, const model::GpuPart& part) {
    const std::int64_t by_compute = std::max<std::int64_t>(free.compute.value, 0) /
                                    std::max<std::int64_t>(part.compute.value, 1);
    if (part.memory == base::Bytes{0}) return by_compute;
    return std::min(by_compute, free.memory.value / part.memory.value);
}

// The same for tasks of the shape and each GPU of the node, when room(gpu) of it is free.
template <typename Room>
std::vector<std::int64_t> parts_on(const PoolView& view, ShapeId shape, NodeId node, Room&& free) {
    const model::GpuPart part = view.cluster.part_on(shape, node);
    std::vector<std::int64_t> parts(view.cluster.nodes()[node.index()].gpus);
    for (std::size_t gpu = 0; gpu < parts.size(); ++gpu) {
        parts[gpu] = parts_in(free(static_cast<int>(gpu)), part);
    }
    return parts;
}

// Larger numbers on one node are not distinguished.
inline constexpr int kSlotsCounted = 4096;

// How many tasks of `gpus` distinct GPUs each fit, at most `tasks`, when GPU i has room for
// parts[i] of them: t tasks do when the sum of min(t, parts[i]) is at least t x gpus.
int most_tasks(const std::vector<std::int64_t>& parts, int gpus, int tasks);

// The most tasks that take `each` of the room. On a node with more bound than it has there
// is none for a task that asks for nothing either.
inline int slots_within(int slots, std::int64_t free, std::int64_t each) {
    if (each == 0) return free < 0 ? 0 : slots;
    return static_cast<int>(std::clamp<std::int64_t>(free / each, 0, slots));
}

// As things stand, at most `tasks`; 0 on a node that is not ready, not in the pool or not allowed.
int slots_now(const PoolView& view, ShapeId shape, NodeId node, View capacity, int tasks);

// If the node were empty; whether it is ready or allowed is not asked.
enum class Host { Counted, Ignored };
int slots_when_empty(const PoolView& view, ShapeId shape, NodeId node, int tasks, Host host);

}  // namespace berth::scheduling
