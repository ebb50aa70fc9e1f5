// SPDX-License-Identifier: Apache-2.0
#include "scheduling/supposed_slots.h"

#include <algorithm>

#include "scheduling/slots.h"

namespace berth::scheduling {
namespace {

// What is left of something on a node, when others use so much of it.
std::int64_t supposed_room(const cluster::HostUse& host, std::int64_t others, Moment moment,
                           const Supposed& supposed) {
    if (host.capacity == cluster::kUnaccounted) return host.free(View::Idle);
    const std::int64_t room =
        moment == Moment::Now ? host.free(View::Idle) : host.capacity - others;
    return room + (supposed.is_host_of_others_free ? others : 0);
}

}  // namespace

int supposed_slots(const PoolView& view, ShapeId shape, NodeId node, Moment moment, int tasks,
                   const Supposed& supposed) {
    const cluster::Cluster& cluster = view.cluster;
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    const bool is_now = moment == Moment::Now;
    if (is_now && (!state.is_ready || !cluster.allows(shape, state.kind))) return 0;
    const cluster::Others& others = cluster.others().on(node);
    const int gpus = cluster.shape(shape).request.gpus;
    const bool is_free = supposed.are_gpus_of_others_free;
    if (is_now && gpus > 0 && !is_free && others.missing() > 0) return 0;
    auto parts = parts_on(view, shape, node, [&](int gpu) {
        const bool is_left = is_free && (others.taken >> gpu & 1) != 0;
        return is_now && !is_left ? cluster.room(View::Idle, node, gpu) : cluster.whole_gpu(node);
    });
    if (!is_now && !is_free) parts.resize(static_cast<std::size_t>(cluster.own_gpus(node)));
    int slots = most_tasks(parts, gpus, tasks);
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
    std::int64_t slots = 0;
    for (const NodeId node : nodes) {
        slots += supposed_slots(view, shape, node, moment, tasks, supposed);
    }
    return slots >= tasks;
}

}  // namespace berth::scheduling
