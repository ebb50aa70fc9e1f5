// SPDX-License-Identifier: Apache-2.0
//
// Which nodes are there, in which order, and where? What a map needs once: it changes with a node,
// a pool or the levels. Cost: O(nodes).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/cluster.h"
#include "model/event.h"

namespace berth::api {

struct Topology {
    // {"pools":[],"racks":[],"models":[],"nodes":[{}]}, nodes in columns:
    //   "names":["n0"],"gpus":[8],"pool":[0],"rack":[0],"model":[0],"memory":[85899345920]
    // A number in "pool", "rack" and "model" is a position in the list of names; -1 = none.
    std::string json;
    std::string etag;
    std::vector<base::Bytes> gpu_memory;  // of each node, of one GPU; 0 = not known
    std::unordered_map<std::string, std::size_t> nodes;  // by name
};

std::shared_ptr<const Topology> topology_of(const cluster::Cluster& cluster);

// Whether the event may change it.
bool changes_topology(const model::EventBody& event);

}  // namespace berth::api
