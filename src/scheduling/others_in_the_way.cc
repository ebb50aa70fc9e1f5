// SPDX-License-Identifier: Apache-2.0
#include "scheduling/others_in_the_way.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace berth::scheduling {
namespace {

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
                         [&](NodeId node) { return others.is_used(node); });
    if (used.empty()) return {};
    const auto fits = [&](bool are_gpus_free, bool is_host_free) {
        return would_fit(view, shape, nodes, moment, tasks, {are_gpus_free, is_host_free, {}});
    };
    if (fits(false, false) || !fits(true, true)) return {};
    const NodeId node = most_used(view.cluster, used);
    return OthersInTheWay{node, fits(false, true) ? 0 : others.on(node).gpus};
}

}  // namespace berth::scheduling
