// SPDX-License-Identifier: Apache-2.0
//
// Could the tasks of a job that runs ask for something else where they stand, and if not, for how
// much? Asked of what is idle now: nothing that is promised to another job is taken.
// Cost: O(its tasks x log).
#pragma once

#include "cluster/cluster.h"

namespace berth::cluster {

// What a task that asks this takes of a node, on these GPUs; as rank 0.
TaskPlacement task_of(const Cluster& cluster, const model::TaskRequest& request, NodeId node,
                      std::uint64_t gpu_mask);

struct InPlace {
    enum class Lacks { Nothing, Gpu, Cpu, HostMemory };
    Lacks lacks = Lacks::Nothing;  // the first that is too small
    NodeId node;
    int gpu = 0;
    // Of each of its GPUs the most that one of its tasks could have there.
    GpuPart largest_part;
};

// `job` has a place, no task of it leaves. Its companions stay what they are.
InPlace in_place(const Cluster& cluster, const Job& job, const model::TaskRequest& request);

}  // namespace berth::cluster
