// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/node_moves.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace berth::scheduling {
namespace {

using base::NodeId;
using base::PoolId;
using cluster::Cluster;
using cluster::View;

bool are_alike(const model::Node& left, const model::Node& other) {
    return left.gpus == other.gpus && left.gpu_model == other.gpu_model &&
           left.gpu_memory == other.gpu_memory;
}

// How many of the outermost levels two nodes have in common, by the paths of their domains.
int nearness(std::string_view left, std::string_view other) {
    int common = 0;
    while (!left.empty() && left.substr(0, left.find('/')) == other.substr(0, other.find('/'))) {
        ++common;
        left.remove_prefix(std::min(left.find('/'), left.size() - 1) + 1);
        other.remove_prefix(std::min(other.find('/'), other.size() - 1) + 1);
    }
    return common;
}

const std::string& domain_of(const Cluster& cluster, NodeId node) {
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    return cluster.pool(state.pool).domains[state.domain].path;
}

// Not valid when no node of the pool can take its place.
NodeId spare_for(const Cluster& cluster, NodeId lost_node, PoolId spares,
                 const std::set<NodeId>& taken) {
    const model::Node lost = cluster.description(lost_node);
    const auto& idle = cluster.pool(spares).free[static_cast<std::size_t>(View::Idle)];
    const cluster::NodeSet& candidates = idle.nodes_with(lost.gpus);
    NodeId best;
    int nearest = -1;
    for (const NodeId node : candidates) {
        if (cluster.nodes()[node.index()].gpus != lost.gpus || taken.contains(node)) continue;
        const int near = nearness(domain_of(cluster, lost_node), domain_of(cluster, node));
        if (near <= nearest || !are_alike(lost, cluster.description(node))) continue;
        if (!cluster::is_empty(cluster, node)) continue;
        best = node;
        nearest = near;
    }
    return best;
}

// Whether the node would join another pool if nothing were on it.
bool is_to_move(const Cluster& cluster, NodeId node) {
    const cluster::Membership& membership = cluster.membership();
    if (membership.misplaced.contains(node)) return true;
    if (!membership.unavailable.contains(node)) return false;
    const PoolId spares =
        cluster.find_pool(cluster.pool(cluster.nodes()[node.index()].pool).spares);
    return spares.is_valid() && spare_for(cluster, node, spares, {}).is_valid();
}

}  // namespace

GivenUp given_up(const Cluster& cluster, model::TimePoint now) {
    GivenUp given_up;
    const cluster::Membership& membership = cluster.membership();
    if (membership.misplaced.empty() && membership.unavailable.empty()) return given_up;
    for (const auto& [id, job] : cluster.jobs()) {
        const NodeId node = job.pinned.node;
        if (!node.is_valid() || !job.is_waiting() || !is_to_move(cluster, node)) continue;
        const model::TimePoint end = job.waiting_since + kFrozenPatience;
        if (end <= now) {
            given_up.jobs.push_back(id);
        } else if (!given_up.next || end < *given_up.next) {
            given_up.next = end;
        }
    }
    return given_up;
}

std::vector<model::NodeMove> node_moves(const Cluster& cluster) {
    std::vector<model::NodeMove> moves;
    const cluster::Membership& membership = cluster.membership();
    for (const NodeId node : membership.misplaced) {
        if (!cluster::is_empty(cluster, node)) continue;
        moves.push_back({cluster.node_name(node), cluster.pool(cluster.belongs_to(node)).name, {}});
    }
    std::set<NodeId> taken;
    for (const NodeId node : membership.unavailable) {
        const PoolId pool = cluster.nodes()[node.index()].pool;
        const std::string& spares = cluster.pool(pool).spares;
        if (spares.empty() || membership.misplaced.contains(node)) continue;
        const NodeId spare_node = spare_for(cluster, node, cluster.find_pool(spares), taken);
        if (!spare_node.is_valid() || !cluster::is_empty(cluster, node)) continue;
        taken.insert(spare_node);
        moves.push_back(
            {cluster.node_name(spare_node), cluster.pool(pool).name, cluster.node_name(node)});
    }
    return moves;
}

std::vector<model::NodeMove> move_nodes(Cluster& copy) {
    std::vector<model::NodeMove> moves = node_moves(copy);
    for (const model::NodeMove& move : moves) {
        cluster::move_node(copy, move);
    }
    return moves;
}

}  // namespace berth::scheduling
