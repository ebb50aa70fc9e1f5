// SPDX-License-Identifier: Apache-2.0
//
// On which nodes do the companions of a gang stand? Rule R4 as for all tasks: those with GPUs where
// other tasks with GPUs would, in its pool. Those without go to nodes without GPUs before others;
// of those to the nodes of its tasks first. Ties go to the node declared first. A node without GPUs
// may be of any pool that the job names, another one of its own.
//
// In the Coming view, unused GPUs are taken before those still being freed.
// Guarantees: what is found fits, all of it together. Kinds with GPUs go first, of these and of the
// others the kind that may stand on fewest nodes, one after the other, so places may be missed
// where kinds compete. Cost: O(nodes) a kind.
#pragma once

#include <optional>

#include "scheduling/place/place.h"

namespace berth::scheduling {

inline bool lacks_companions(const cluster::Job& job) { return job.lacking_companions > 0; }

// Adds a place for each companion that the job lacks to those of its tasks, or says of which kind
// one has no place: its position among the shape's. The cluster is as before after the call.
std::optional<std::size_t> add_companions(const PoolView& view, const cluster::Job& job,
                                          View capacity, Places& placed);

// The first kind that would not fit on all nodes together if these were empty; or would not beside
// the tasks, because these and all companions ask for more GPUs than there are.
struct TooLarge {
    std::size_t kind = 0;
    bool is_beside_its_tasks = false;
};
std::optional<TooLarge> companions_too_large(const PoolView& view, const cluster::Job& job);

}  // namespace berth::scheduling
