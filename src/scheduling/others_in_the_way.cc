// SPDX-License-Identifier: Apache-2.0
#include "scheduling/others_in_the_way.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "scheduling/slots.h"

namespace berth::scheduling {
namespace {

// What of others is supposed to be gone.
struct Gone {
    bool gpus = false;
    bool host = false;
};

// How many tasks of one shape fit on nodes when some of what others use is gone.
class Supposition {
  public:
    Supposition(const PoolView& view, ShapeId shape, int tasks, Moment moment)
        : view_(view), shape_(shape), tasks_(tasks), moment_(moment) {}

    bool fits(std::span<const NodeId> nodes, Gone gone) const {
        std::int64_t slots = 0;
        for (const NodeId node : nodes) slots += slots_on(node, gone);
        return slots >= tasks_;
    }

  private:
    int slots_on(NodeId node, Gone gone) const {
        const cluster::Cluster& cluster = view_.cluster;
        const cluster::NodeState& state = cluster.nodes()[node.index()];
        const bool is_now = moment_ == Moment::Now;
        if (is_now && (!state.is_ready || !cluster.allows(shape_, state.kind))) return 0;
        const cluster::Others& others = cluster.others().on(node);
        const bool asks_gpus = cluster.shape(shape_).request.gpus > 0;
        if (is_now && asks_gpus && !gone.gpus && others.missing() > 0) return 0;
        auto parts = parts_on(view_, shape_, node, [&](int gpu) {
            const bool is_left = gone.gpus && (others.taken >> gpu & 1) != 0;
            return is_now && !is_left ? cluster.room(View::Idle, node, gpu)
                                      : cluster.whole_gpu(node);
        });
        if (!is_now && !gone.gpus) parts.resize(static_cast<std::size_t>(cluster.own_gpus(node)));
        const int slots = most_tasks(parts, cluster.shape(shape_).request.gpus, tasks_);
        const std::int64_t cpu = room(state.cpu, gone.host ? 0 : others.cpu, others.cpu);
        const std::int64_t memory =
            room(state.memory, gone.host ? 0 : others.memory, others.memory);
        return std::min(slots_within(slots, cpu, cluster.cpu_on(shape_, node)),
                        slots_within(slots, memory, cluster.memory_on(shape_, node)));
    }

    // What is left beside so much of what others use.
    std::int64_t room(const cluster::HostUse& host, std::int64_t counted, std::int64_t used) const {
        if (host.capacity == cluster::kUnaccounted) return host.free(View::Idle);
        if (moment_ == Moment::WhenEmpty) return host.capacity - counted;
        return host.free(View::Idle) + used - counted;
    }

    const PoolView& view_;
    ShapeId shape_;
    int tasks_;
    Moment moment_;
};

NodeId most_used(const cluster::Cluster& cluster, std::span<const NodeId> nodes) {
    const auto gpus = [&](NodeId node) { return cluster.others().on(node).gpus; };
    return *std::ranges::max_element(nodes, {}, gpus);
}

}  // namespace

std::optional<OthersInTheWay> others_in_the_way(const PoolView& view, ShapeId shape, int tasks,
                                                std::span<const NodeId> nodes, Moment moment) {
    const cluster::OthersTable& others = view.cluster.others();
    if (others.empty()) return {};
    std::vector<NodeId> used;
    std::ranges::copy_if(nodes, std::back_inserter(used),
                         [&](NodeId node) { return others.on(node) != cluster::Others{}; });
    const Supposition supposition(view, shape, tasks, moment);
    if (used.empty() || supposition.fits(nodes, {}) || !supposition.fits(nodes, {true, true})) {
        return {};
    }
    const NodeId node = most_used(view.cluster, used);
    const int gpus = others.on(node).gpus;
    const bool lacks_host = supposition.fits(nodes, {false, true});
    return OthersInTheWay{node, lacks_host ? 0 : gpus};
}

}  // namespace berth::scheduling
