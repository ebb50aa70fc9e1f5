// SPDX-License-Identifier: Apache-2.0
//
// In which pool is a node, and in which should it be? By its labels it belongs to the first
// pool that it matches. Two things are otherwise:
//   bound       it took the place of a node that is not ready, or its own place was taken: it
//   belongs
//               where it was put, for as long as its labels put it where they did then and the
//               pool has its spares where it had them
//   misplaced   it is in another pool than it belongs to, since work runs there: it takes no
//               more, counts nowhere, and joins its pool once it is empty
//               (scheduling/passes/node_moves.h)
#pragma once

#include <map>
#include <set>
#include <vector>

#include "base/ids.h"
#include "model/node/node.h"
#include "model/plan.h"

namespace berth::cluster {

class Cluster;

struct Binding {
    base::PoolId labelled;  // what its labels said then
    base::PoolId pool;
};

struct Membership {
    std::map<base::NodeId, Binding> bound;
    std::set<base::NodeId> misplaced;
    std::set<base::NodeId> unavailable;  // drained or down
};

// Whether nothing runs on the node, leaves it, is promised GPUs of it or is frozen there.
bool is_empty(const Cluster& cluster, base::NodeId node);
// Whether a GPU of it is held or promised.
bool are_gpus_in_use(const Cluster& cluster, base::NodeId node);
// Puts a node into the pool, in the place of another where it names one, which takes its own. The
// event does that (lifecycle/), and a decision on a copy.
void move_node(Cluster& cluster, const model::NodeMove& move);
// Of nodes that are bound or misplaced.
std::vector<model::NodePlace> places(const Cluster& cluster);

}  // namespace berth::cluster
