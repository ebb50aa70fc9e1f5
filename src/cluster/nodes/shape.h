// SPDX-License-Identifier: Apache-2.0
//
// What does every task of a job ask of a node, of which pools, and which of them stand together?
// Plain records, as the cluster keeps them; jobs that ask the same share one.
#pragma once

#include <string>
#include <vector>

#include "base/small_vector.h"
#include "cluster/nodes/node_state.h"
#include "model/job/job.h"

namespace berth::cluster {

// Of tasks of one job, ascending.
using Ranks = base::SmallVector<int, 32>;

// Tasks of a gang that stand together: those of the ranks from `first` on, `tasks_max` of them.
struct Group {
    int first = 0;
    int tasks_min = 1;
    int tasks_max = 1;
    int level = -1;  // position among the levels, their number = the node itself; -1 = no wish

    bool operator==(const Group&) const = default;
    bool has(int rank) const { return rank >= first && rank < first + tasks_max; }
};

// Companions of one kind: those of the ranks from `first` on.
struct Companions {
    int first = 0;
    int count = 1;
    base::ShapeId shape;  // what each asks
    std::string name = {};

    bool operator==(const Companions&) const = default;
    bool has(int rank) const { return rank >= first && rank < first + count; }
};

// What every task of a job asks of a node, and of which pools. Jobs that ask the same share one.
struct Shape {
    model::TaskRequest request;
    std::string gpu_model;
    model::Labels labels;
    std::vector<PoolId> pools;  // where the job may run, in order
    model::TopologyRequest topology;
    model::Placement placement = model::Placement::Auto;
    std::int64_t tensor_skew_ppm = 0;
    model::NodeFilter filter = {};
    std::vector<model::Toleration> tolerations = {};
    bool may_share = false;  // its GPU, which is whole until it does
    int required = -1;   // position of topology.required among the levels; -1 = none
    int preferred = -1;  // likewise; the number of levels = the node itself
    std::vector<Group> groups = {};  // of topology; empty = the gang is one
    std::vector<Companions> companions = {};  // by rank, behind all tasks

    auto operator==(const Shape&) const -> bool = default;
    // Whether a task of it has, or may come to have, a part of a GPU.
    bool shares() const { return request.gpus > 0 && (may_share || !request.is_whole()); }
    // The number of its groups that start together.
    int groups_min() const {
        return topology.groups_min > 0 ? topology.groups_min : static_cast<int>(groups.size());
    }
};

}  // namespace berth::cluster
