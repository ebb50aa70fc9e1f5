// SPDX-License-Identifier: Apache-2.0
//
// Would one more task fit on a node if some jobs had left it? By the sums of place_on (place.h):
// nothing is released for it. Cost: the GPUs of the node, and all tasks of those jobs.
#pragma once

#include <span>

#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

bool has_room_without(const PoolView& view, ShapeId shape, NodeId node,
                      std::span<const cluster::Job* const> leaving);

}  // namespace berth::scheduling
