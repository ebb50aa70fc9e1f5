// SPDX-License-Identifier: Apache-2.0
//
// Which part of a pool is a node or a job in, which nodes stand there, and what is it called? And
// what follows from what nodes and jobs say of levels and labels.
#pragma once

#include <string>
#include <vector>

#include "cluster/cluster.h"

namespace berth::cluster {

// The domain of the level in which the node stands, or itself; nowhere where it names no domain.
Region region_of(const Cluster& cluster, NodeId node, int level);
bool is_in(const Cluster& cluster, const Region& region, NodeId node);
// What the job requires, once tasks run; else the whole pool.
Region bound_region(const Cluster& cluster, const Job& job);

// Calls `visit` with every node of the region.
template <typename Visit>
void visit_nodes(const Cluster& cluster, PoolId pool, const Region& region, Visit&& visit) {
    if (region.is_nowhere()) return;
    if (region.node.is_valid()) return visit(region.node);
    cluster.pool(pool).domains.visit_nodes(region.domain, visit);
}

// "rack b1/r7", "node n3", "the pool".
std::string name_of(const Cluster& cluster, const Region& region, PoolId pool);

// What the node is called at each level, empty where it names none.
std::vector<std::string> names_at_levels(const Cluster& cluster, const NodeWords& node);
// The positions of the levels that the shape and its groups name.
void resolve_levels(const Cluster& cluster, Shape& shape);
// The first pool, in order of declaration, all of whose labels are these; else the default one.
PoolId pool_for(const Cluster& cluster, const model::Labels& labels);

}  // namespace berth::cluster
