// SPDX-License-Identifier: Apache-2.0
#include "scheduling/place/slots.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace berth::scheduling {
int most_tasks(const std::vector<std::int64_t>& parts, int gpus, int tasks) {
    if (gpus == 0) return tasks;
    const std::int64_t all = std::reduce(parts.begin(), parts.end());
    tasks = static_cast<int>(std::min<std::int64_t>(tasks, all / gpus));
    for (; tasks > 0; --tasks) {
        std::int64_t slots = 0;
        for (const std::int64_t count : parts) slots += std::min<std::int64_t>(count, tasks);
        if (slots >= std::int64_t{tasks} * gpus) break;
    }
    return tasks;
}

int slots_now(const PoolView& view, ShapeId shape, NodeId node, View capacity, int tasks) {
    const cluster::Cluster& cluster = view.cluster;
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    if (!state.is_ready || state.pool != view.pool || !cluster.allows(shape, state.kind)) return 0;
    int slots = slots_within(tasks, state.cpu.free(capacity), cluster.cpu_on(shape, node));
    slots = slots_within(slots, state.memory.free(capacity), cluster.memory_on(shape, node));
    slots = cluster.resources().fitting(shape, node, capacity, slots);
    const model::TaskRequest& request = cluster.shape(shape).request;
    if (request.is_whole()) {
        const int whole = std::popcount(state.whole[static_cast<std::size_t>(capacity)]);
        return slots_within(slots, whole, request.gpus);
    }
    if (request.gpus > 0 && cluster.others().is_overfull(node)) return 0;
    const auto parts = parts_on(view, shape, node,
                                [&](int gpu) { return cluster.free_part(capacity, node, gpu); });
    return most_tasks(parts, request.gpus, slots);
}

int slots_when_empty(const PoolView& view, ShapeId shape, NodeId node, int tasks, Host host) {
    const cluster::Cluster& cluster = view.cluster;
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    const auto parts = parts_on(view, shape, node, [&](int) { return cluster.whole_gpu(node); });
    int slots = most_tasks(parts, cluster.shape(shape).request.gpus, tasks);
    if (host == Host::Counted) {
        slots = cluster.resources().fitting_when_empty(shape, node, slots);
    }
    const auto by_host = [&](const cluster::HostUse& use, std::int64_t each) {
        const bool counts = host == Host::Counted && use.capacity != cluster::kUnaccounted;
        return counts ? slots_within(slots, use.capacity, each) : slots;
    };
    return std::min(by_host(state.cpu, cluster.cpu_on(shape, node)),
                    by_host(state.memory, cluster.memory_on(shape, node)));
}

}  // namespace berth::scheduling
