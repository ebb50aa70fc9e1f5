// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/supposed_slots.h"

#include <algorithm>
#include <bit>

#include "scheduling/place/slots.h"

namespace berth::scheduling {
namespace {

// What is left of something on a node, when others use so much of it.
std::int64_t supposed_room(const cluster::HostUse& host, std::int64_t others, Moment moment,
                           const Supposed& supposed) {
    if (host.capacity == cluster::kUnaccounted) return host.free(View::Idle);
    const std::int64_t free =
        moment == Moment::Now ? host.free(View::Idle) : host.capacity - others;
    return free + (supposed.is_host_of_others_free ? others : 0);
}

// How many tasks the GPUs have room for.
int slots_by_gpus(const PoolView& view, ShapeId shape, NodeId node, Moment moment, int tasks,
                  bool are_others_gone) {
    const cluster::Cluster& cluster = view.cluster;
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    const model::TaskRequest& request = cluster.shape(shape).request;
    const cluster::Others& others = cluster.others().on(node);
    const bool is_now = moment == Moment::Now;
    if (request.gpus == 0) return tasks;
    if (is_now && !are_others_gone && others.missing() > 0) return 0;
    const int when_empty = are_others_gone ? state.gpus : cluster.own_gpus(node);
    if (request.is_whole()) {
        const std::uint64_t left = state.whole[0] | (are_others_gone ? others.taken : 0);
        return std::min(tasks, (is_now ? std::popcount(left) : when_empty) / request.gpus);
    }
    auto parts = parts_on(view, shape, node, [&](int gpu) {
        const bool is_left = are_others_gone && (others.taken >> gpu & 1) != 0;
        return is_now && !is_left ? cluster.free_part(View::Idle, node, gpu)
                                  : cluster.whole_gpu(node);
    });
    if (!is_now) parts.resize(static_cast<std::size_t>(when_empty));
    return most_tasks(parts, request.gpus, tasks);
}

}  // namespace

int supposed_slots(const PoolView& view, ShapeId shape, NodeId node, Moment moment, int tasks,
                   const Supposed& supposed) {
    const cluster::Cluster& cluster = view.cluster;
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    const bool is_there = state.is_ready && cluster.allows(shape, state.kind);
    if (moment == Moment::Now && !is_there) return 0;
    const cluster::Others& others = cluster.others().on(node);
    int slots = slots_by_gpus(view, shape, node, moment, tasks, supposed.are_gpus_of_others_free);
    if (slots == 0 || supposed.is_host_ignored) return slots;
    slots = slots_within(slots, supposed_room(state.cpu, others.cpu, moment, supposed),
                         cluster.cpu_on(shape, node));
    slots = slots_within(slots, supposed_room(state.memory, others.memory, moment, supposed),
                         cluster.memory_on(shape, node));
    const cluster::NodeResources& resources = cluster.resources();
    for (const cluster::ResourceAsk& ask : resources.asked(shape)) {
        if (supposed.ignored == ask.resource) continue;
        const cluster::HostUse& use = resources.on(node, ask.resource);
        const bool is_said = use.capacity != cluster::kUnaccounted;
        if (!is_said && !resources.is_pods(ask.resource)) return 0;
        const std::int64_t by_others = resources.used_by_others(node, ask.resource);
        slots = slots_within(slots, supposed_room(use, by_others, moment, supposed), ask.amount);
    }
    return slots;
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
