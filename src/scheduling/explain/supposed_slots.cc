// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/supposed_slots.h"

#include <bit>

#include "scheduling/place/free_capacity.h"

namespace berth::scheduling {
namespace {

// Now GPUs of others are taken; on an empty node they are the last ones.
void suppose_gpus(const PoolView& view, NodeId node, Moment moment, bool are_free,
                  FreeCapacity& free) {
    const model::GpuPart whole = view.cluster.whole_gpu(node);
    std::uint64_t mask = view.cluster.others().on(node).taken;
    for (; moment == Moment::Now && are_free && mask != 0; mask &= mask - 1) {
        const auto gpu = static_cast<std::size_t>(std::countr_zero(mask));
        free.compute[gpu] = static_cast<std::int32_t>(whole.compute.value);
        free.gpu_memory[gpu] = whole.memory.value;
    }
    const std::size_t gpus = view.cluster.nodes()[node.index()].gpus;
    auto gpu = static_cast<std::size_t>(view.cluster.own_gpus(node));
    for (; moment == Moment::WhenEmpty && !are_free && gpu < gpus; ++gpu) free.compute[gpu] = 0;
}

void suppose_host(const PoolView& view, ShapeId shape, NodeId node, Moment moment,
                  const Supposed& supposed, FreeCapacity& free) {
    const cluster::Others& others = view.cluster.others().on(node);
    const cluster::NodeResources& resources = view.cluster.resources();
    const bool are_counted = moment == Moment::Now;
    const int more = int{supposed.is_host_of_others_free} - int{!are_counted};
    free.cpu = supposed.is_host_ignored ? FreeCapacity::kUnbounded : free.cpu + more * others.cpu;
    free.memory =
        supposed.is_host_ignored ? FreeCapacity::kUnbounded : free.memory + more * others.memory;
    const auto asked = resources.asked(shape);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const std::uint32_t resource = asked[i].resource;
        const bool is_ignored = supposed.is_host_ignored || supposed.ignored == resource;
        free.other[i] = is_ignored
                            ? FreeCapacity::kUnbounded
                            : free.other[i] + more * resources.used_by_others(node, resource);
    }
}

}  // namespace

int supposed_slots(const PoolView& view, ShapeId shape, NodeId node, Moment moment, int tasks,
                   const Supposed& supposed) {
    const cluster::Cluster& cluster = view.cluster;
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    const bool are_free = supposed.are_gpus_of_others_free;
    const bool asks_gpus = cluster.shape(shape).request.gpus > 0;
    if (moment == Moment::Now) {
        if (!state.is_ready || !cluster.allows(shape, state.kind)) return 0;
        if (asks_gpus && !are_free && cluster.others().is_overfull(node)) return 0;
    }
    const TaskNeed need(view, shape, node);
    FreeCapacity free;
    moment == Moment::Now ? need.read(View::Idle, free) : need.read_when_empty(free);
    suppose_gpus(view, node, moment, are_free, free);
    suppose_host(view, shape, node, moment, supposed, free);
    return need.slots(free, tasks);
}

int slots_when_back(const PoolView& view, ShapeId shape, NodeId node, int tasks) {
    const TaskNeed need(view, shape, node);
    FreeCapacity free;
    need.read_when_empty(free);
    for (std::size_t gpu = 0; gpu < view.cluster.nodes()[node.index()].gpus; ++gpu) {
        const model::GpuPart unused = view.cluster.unused(node, static_cast<int>(gpu));
        free.compute[gpu] = static_cast<std::int32_t>(unused.compute.value);
        free.gpu_memory[gpu] = unused.memory.value;
    }
    return need.slots(free, tasks);
}

bool would_fit(const PoolView& view, ShapeId shape, std::span<const NodeId> nodes, Moment moment,
               int tasks, const Supposed& supposed) {
    int missing = tasks;
    for (const NodeId node : nodes) {
        if (missing <= 0) break;
        missing -= supposed_slots(view, shape, node, moment, missing, supposed);
    }
    return missing <= 0;
}

}  // namespace berth::scheduling
