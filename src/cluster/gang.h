// SPDX-License-Identifier: Apache-2.0
//
// Which tasks does a gang need, which can it spare, and where must they stay? A gang may have
// groups, each with its own minimum; one without is a single group.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "cluster/cluster.h"

namespace berth::cluster {

// How many running tasks the job has too few, to the minimum of every group; where it starts with
// some of them, of those that have tasks, and of as many others as it takes to start.
int lacking_in_groups(const Shape& shape, const Job& job);
inline int lacking(const Shape& shape, const Job& job) {
    if (!shape.groups.empty()) return lacking_in_groups(shape, job);
    return std::max(job.least_tasks() - job.active, 0);
}

// The ranks of its next `tasks`, the lowest without a place, of every group as many as it lacks. Of
// a gang of groups that lacks none, all without a place: where its groups stand decides between
// them; one that grows by groups gets the next of those.
Ranks next_ranks(const Shape& shape, const Job& job, int tasks);

// The position of the group of this rank among the shape's.
std::size_t group_of(const Shape& shape, int rank);

// Puts the tasks that the gang can spare before the others, both as they stood, and returns how
// many there are. `running`: its running tasks, the highest rank first, in which order they go. A
// group is spared as a whole where as many others as the gang starts with are whole.
std::size_t spare_first(const Shape& shape, int tasks_min, std::span<model::TaskPlacement> running);

// The ranks of running tasks that are of no use to a gang that is short: all, or those of its short
// groups where as many others as it starts with are whole.
Ranks stale_ranks(const Shape& shape, const Job& job);

// The ranks of its companions of this kind that have no place.
Ranks free_ranks(const Companions& kind, const Job& job);

// What the task of this rank asks of a node, by the shape of its job: that, or a companion's.
inline ShapeId asked_by(const Cluster& cluster, ShapeId shape, int rank) {
    const std::vector<Companions>& kinds = cluster.shape(shape).companions;
    if (kinds.empty() || rank < kinds.front().first) return shape;
    return std::ranges::find_if(kinds, [&](const auto& kind) { return kind.has(rank); })->shape;
}

// The CPU and memory that the task of this rank states; and `tasks` of the job, with all the
// companions that it lacks. A part of a node that a task takes unasked is not counted.
HostAsk stated_by(const Cluster& cluster, const Job& job, int rank);
HostAsk stated_together(const Cluster& cluster, const Job& job, int tasks);

// What one task that asks this counts as in a pool: Cluster::footprint, demand or most_gpus.
using CountOfTask = MilliGpu (Cluster::*)(ShapeId, PoolId) const;

// Whether some companions ask for GPUs, so that the gang has two requests.
bool has_two_gpu_requests(const Cluster& cluster, const Shape& shape);

// The GPUs of all companions of the shape; and of those that the job lacks.
MilliGpu gpus_of_companions(const Cluster& cluster, const Shape& shape, PoolId pool,
                            CountOfTask count);
MilliGpu gpus_of_lacking_companions(const Cluster& cluster, const Job& job, PoolId pool,
                                    CountOfTask count);

// What it wants on top of what it has or is promised: all its tasks, and the companions it lacks.
MilliGpu pending_gpus(const Cluster& cluster, const Job& job, PoolId pool);

// The pool of a job that has or is given these places; a companion may stand outside of it.
PoolId pool_of(const Cluster& cluster, const Job& job, std::span<const TaskPlacement> tasks);

// The ranks of a new attempt with as many tasks of each group as have a place now.
Ranks ranks_anew(const Shape& shape, const Job& job);

// Where the group's running tasks are at its level: the whole pool when none run or it has no
// wish; nowhere when they are apart.
Region bound_region(const Cluster& cluster, const Job& job, const Group& group);

}  // namespace berth::cluster
