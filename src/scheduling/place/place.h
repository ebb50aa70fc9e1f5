// SPDX-License-Identifier: Apache-2.0
//
// On which GPUs? All tasks of a step at once or none. Rule R4: bin-pack takes the fullest node
// that still fits, spread the emptiest; shared GPUs before untouched ones; tasks without a GPU
// prefer nodes without GPUs. Ties go to the node declared first and the lowest GPU index.
// Of the shared GPUs with room for a part, the one with the least left of compute and memory
// together: best fit by the sum of both (docs/adr/0013).
//
// A job that says where its tasks stand together is placed domain by domain (domains.h), each time
// all tasks or none. Of a gang of groups, each group then has a domain of its own
// (group_places.h), the innermost filled first.
//
// The companions that the job lacks have a place in the same step (companions.h).
//
// In the Coming view, idle GPUs are taken before GPUs that are still being freed.
// Guarantees: what it returns fits; when it returns nothing, nothing fits (each task asks the
// same, so taking them one after the other misses no solution), but of a gang with companions.
// Cost: O(1) a task when the first node of the right free count has the host resources, else one
// step a node tried.
#pragma once

#include <optional>

#include "base/small_vector.h"
#include "scheduling/place/domains.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// Of tasks of one job, by rank.
using Places = base::SmallVector<model::TaskPlacement, 16>;

// Where the job may stand at all: on the node where its processes are kept when it is frozen, else
// anywhere in the pool.
inline cluster::Region home_of(const cluster::Job& job) {
    return {cluster::kWholePool, job.pinned.node};
}

// Whether the free counts alone rule it out. Most refusals end here; cost: O(GPUs of one node).
bool exceeds_capacity(const PoolView& view, ShapeId shape, int tasks, View capacity);
// Whether what all GPUs have left, and those kept for others, would be enough did it stand
// together: compute and memory each for itself. Cost: O(GPUs of one node).
bool enough_on_separate_nodes(const PoolView& view, ShapeId shape, int tasks, View capacity,
                              MilliGpu reserved = {});
// Whether a GPU in part use can have room for the part of a task that takes one. O(1).
bool has_part_left(const PoolView& view, ShapeId shape, View capacity);
// Whether no GPU can have a part free that is large enough for one task that takes a part. O(1).
bool exceeds_largest_part(const PoolView& view, ShapeId shape, View capacity);

// `tasks` places inside `within` for ranks the job has not yet placed; of a gang of groups, those
// it lacks, or as many others as it grows by; with those of the companions it lacks. The cluster is
// as before after the call.
std::optional<Places> place(const PoolView& view, const cluster::Job& job, int tasks, View capacity,
                            const Region& bound_to = {});

// As many of `tasks` places as fit at once, in one domain of the required level if there is one.
Places place_fitting(const PoolView& view, const cluster::Job& job, int tasks, View capacity,
                     const Region& bound_to = {});

// The same for a new attempt of a job that leaves its places: as many tasks of every group as it
// has now, of ranks from the first of the group on.
std::optional<Places> place_anew(const PoolView& view, const cluster::Job& leaving, View capacity);

// As many of `tasks` places as fit at once in this region, whatever levels the job asks for.
Places fill(const PoolView& view, const cluster::Job& job, int tasks, View capacity,
            const Region& region);

// A place for one task that asks this beside those of the job: on the node where its processes are
// kept, else anywhere in the pool.
std::optional<model::TaskPlacement> place_beside(const PoolView& view, const cluster::Job& job,
                                                 ShapeId shape, View capacity);

// A place for one task of the shape on this very node, where its job may have left processes.
std::optional<model::TaskPlacement> place_on(const PoolView& view, ShapeId shape, NodeId node,
                                             View capacity, cluster::Pinned pinned = {});

}  // namespace berth::scheduling
