// SPDX-License-Identifier: Apache-2.0
//
// Does a job wait for nothing but one resource beside GPUs, CPU and memory (model/resources.h)?
//
// Guarantees: for a job whose tasks may stand anywhere, yes means that the nodes do not take it and
// would if nobody counted that resource. Of several the first in the order of their names is told.
// Cost: a few sums for each of the nodes; O(1) for a job that asks for none.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "scheduling/supposed_slots.h"

namespace berth::scheduling {

// What each task asks of it: "2 rdma/hca", "10G of ephemeral-storage"; "pods" for the number of
// tasks that nodes take.
std::optional<std::string> short_resource(const PoolView& view, ShapeId shape, int tasks,
                                          std::span<const NodeId> nodes, Moment moment);

}  // namespace berth::scheduling
