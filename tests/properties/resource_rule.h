// SPDX-License-Identifier: Apache-2.0
//
// What do others leave of a node, and what is left of its resources beside GPUs, CPU and memory, by
// the words of the request alone?
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/cluster.h"

namespace berth::proof {

// What a task takes of one GPU, or what is left of one.
struct Part {
    std::int64_t compute = 0;  // thousandths
    std::int64_t memory = 0;  // bytes

    auto operator<=>(const Part&) const = default;
    bool holds(const Part& part) const { return compute >= part.compute && memory >= part.memory; }
};

using Amounts = model::Resources;

// Of each resource that the node says.
Amounts left_by_others(const model::Node& node);
// What this many tasks take comes back; negative: is taken.
void give_back(Amounts& left, const model::TaskRequest& request, std::int64_t tasks);
// Whether this many tasks more have what they ask for.
bool has_enough(const Amounts& left, const model::TaskRequest& request, std::int64_t tasks);

// What is free of the GPUs of a node beside those owed to others, which are whole ones. As long as
// they have not got them, the node is full, or they are just not counted twice.
enum class WhileOwed { Full, Counted };
std::vector<Part> beside_others(std::vector<Part> gpus, int owed, WhileOwed while_owed);
int gpus_left_by_others(const cluster::Cluster& cluster, base::NodeId node);

}  // namespace berth::proof
