// SPDX-License-Identifier: Apache-2.0
#include "cluster/membership.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cluster/cluster.h"
#include "cluster/regions.h"

namespace berth::cluster {
namespace {

// A GPU with the least memory to give away and the largest context of both.
void narrow(model::Node& smallest, const model::Node& node) {
    const model::Bytes given = node.gpu_memory - node.gpu_reserved;
    const bool is_first = smallest.gpu_memory == model::Bytes{0};
    smallest.gpu_memory = is_first ? given : std::min(smallest.gpu_memory, given);
    smallest.gpu_context = std::max(smallest.gpu_context, node.gpu_context);
}

// What the pool knows of its nodes, with one of this kind.
void widen(PoolState& pool, const model::Node& kind) {
    pool.gpus_per_node_max = std::max(pool.gpus_per_node_max, kind.gpus);
    if (kind.gpu_memory > model::Bytes{0}) narrow(pool.smallest_gpu, kind);
}

}  // namespace

bool is_empty(const Cluster& cluster, NodeId node) {
    if (!cluster.jobs_on(node).empty()) return false;
    const auto is_here = [&](const TaskPlacement& task) { return task.node == node; };
    const auto is_promised = [&](JobId id) {
        return std::ranges::any_of(cluster.job(id).reservation->tasks, is_here);
    };
    if (std::ranges::any_of(cluster.reserved_jobs(), is_promised)) return false;
    return std::ranges::none_of(cluster.jobs(),
                                [&](const auto& job) { return job.second.pinned.node == node; });
}

bool are_gpus_in_use(const Cluster& cluster, NodeId node) {
    if (is_empty(cluster, node)) return false;
    const auto has_some = [&](const TaskPlacement& task) {
        return task.node == node && task.gpu_mask != 0;
    };
    return std::ranges::any_of(cluster.jobs(), [&](const auto& each) {
        const Job& job = each.second;
        return job.pinned.node == node ||
               std::ranges::any_of(job.placed, has_some, &PlacedTask::place) ||
               (job.reservation && std::ranges::any_of(job.reservation->tasks, has_some));
    });
}

PoolId Cluster::belongs_to(NodeId node) const {
    const auto bound = membership_.bound.find(node);
    if (bound != membership_.bound.end()) return bound->second.pool;
    return labelled(node);
}

PoolId Cluster::labelled(NodeId node) const {
    return pool_for(*this, kinds_.words(nodes_[node.index()]).labels);
}

// While the node is in no index.
void Cluster::review(NodeId id, PoolId labelled) {
    NodeState& node = nodes_[id.index()];
    const auto note = [&](std::set<NodeId>& among, bool is_among) {
        is_among ? (void)among.insert(id) : (void)among.erase(id);
    };
    const auto bound = membership_.bound.find(id);
    const bool is_bound = bound != membership_.bound.end() && bound->second.labelled == labelled;
    if (bound != membership_.bound.end() && !is_bound) membership_.bound.erase(bound);
    const PoolId pool = is_bound ? bound->second.pool : labelled;
    note(membership_.misplaced, pool != node.pool);
    note(membership_.unavailable, node.health != model::NodeHealth::Ready);
    node.is_ready = node.health == model::NodeHealth::Ready && pool == node.pool;
}

// Its nodes and its spares belong where their labels say.
void Cluster::unbind(PoolId pool) {
    std::erase_if(membership_.bound, [&](const auto& node) {
        return node.second.pool == pool || node.second.labelled == pool;
    });
}

// Pools take other labels than before.
void Cluster::review_all() {
    std::vector<PoolId> labelled;  // by what nodes say
    for (const NodeWords& words : kinds_.all_words())
        labelled.push_back(pool_for(*this, words.labels));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const NodeId node{static_cast<NodeId::Rep>(i)};
        index_node(node, -1);
        review(node, labelled[nodes_[i].words]);
        index_node(node, +1);
    }
}

void Cluster::leave_pool(NodeId id) {
    const NodeState& node = nodes_[id.index()];
    PoolState& pool = pools_[node.pool.index()];
    index_node(id, -1);
    pool.domains.remove_node(node.domain, id);
    if (--pool.nodes_of_kind[node.kind] > 0) return;
    pool.gpus_per_node_max = 0;
    const model::Node smallest = std::exchange(pool.smallest_gpu, {});
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
        if (pool.has_kind(kind)) widen(pool, kinds_[kind].example);
    }
    if (smallest != pool.smallest_gpu) recount();  // what waits may count as more on the others
}

void Cluster::enter_pool(NodeId id, PoolId pool_id) {
    NodeState& node = nodes_[id.index()];
    PoolState& pool = pools_[pool_id.index()];
    const PoolId left = std::exchange(node.pool, pool_id);
    put_into_domains(id);
    pool.count_kind(node.kind);
    const model::Node smallest = pool.smallest_gpu;
    widen(pool, kinds_[node.kind].example);
    review(id, labelled(id));
    index_node(id, +1);
    // What waits may count as less on this one than on those before it.
    const bool was_exchanged = left.is_valid() && !pools_[left.index()].exchange.empty();
    if (was_exchanged || !pool.exchange.empty() || smallest != pool.smallest_gpu) recount();
}

void Cluster::move_node(NodeId id, PoolId pool, bool is_bound) {
    BERTH_CHECK(open_trials_ == 0, "nodes do not change inside a trial");
    const PoolId labelled = this->labelled(id);
    leave_pool(id);
    membership_.bound.erase(id);
    if (is_bound && pool != labelled) membership_.bound[id] = {labelled, pool};
    enter_pool(id, pool);
    settle_requests_by_memory();
}

// What they ask is a part of the smallest GPU of their pool, and how long they ran counts by that.
void Cluster::settle_requests_by_memory() {
    for (const auto& [id, job] : jobs_) {
        if (shape(job.shape).request.gpu_memory > model::Bytes{0}) settle_rank(*this, id);
    }
    keep_ranks(*this, ranks_.now);
}

void move_node(Cluster& cluster, const model::NodeMove& move) {
    const NodeId node = cluster.find_node(move.node);
    const bool replaces = !move.replaces.empty();
    const PoolId from = cluster.nodes()[node.index()].pool;
    if (replaces) cluster.move_node(cluster.find_node(move.replaces), from, true);
    cluster.move_node(node, cluster.find_pool(move.pool), replaces);
}

std::vector<model::NodePlace> places(const Cluster& cluster) {
    std::vector<model::NodePlace> places;
    const auto add = [&](NodeId node, bool is_bound) {
        const std::string& pool = cluster.pool(cluster.nodes()[node.index()].pool).name;
        places.push_back({cluster.node_name(node), pool, is_bound});
    };
    const Membership& membership = cluster.membership();
    for (const auto& [node, binding] : membership.bound) add(node, true);
    for (const NodeId node : membership.misplaced) {
        if (!membership.bound.contains(node)) add(node, false);
    }
    return places;
}

}  // namespace berth::cluster
