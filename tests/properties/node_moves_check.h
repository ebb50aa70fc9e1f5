// SPDX-License-Identifier: Apache-2.0
//
// May these nodes join other pools now? Held against the rules of model::Pool alone:
//   only what is empty moves, where its labels say or in the place of one that is not ready
//   the node that takes a place is ready, like the other, and in the pool that has the spares
//   a decision that moves nodes does nothing else, and is made again at once
#pragma once

#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "model/plan.h"

namespace berth::proof {

// One sentence for each finding.
std::vector<std::string> check_node_moves(const cluster::Cluster& before, const model::Plan& plan,
                                          model::TimePoint now);

}  // namespace berth::proof
