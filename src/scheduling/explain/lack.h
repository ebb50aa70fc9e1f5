// SPDX-License-Identifier: Apache-2.0
//
// Which one thing keeps this number of tasks from these nodes, when it is not our jobs' GPUs? What
// others use of them, one resource beside GPUs, CPU and memory (model/node/resources.h), or CPU and
// memory.
//
// Guarantees: for a job whose tasks may stand anywhere, an answer means that the nodes do not take
// it and would if that one thing were neither used nor counted. Ties: in the order above; the node
// of which others use most GPUs, then the first; resources in the order of their names. Cost: a few
// sums for each of the nodes, a few times.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "model/answer/verdict.h"
#include "scheduling/explain/supposed_slots.h"

namespace berth::scheduling {

struct Lack {
    model::Cause cause;  // OthersUseGpus, OthersUseHost, ResourceTaken or HostTaken
    std::string what = {};  // each task asks of it: "2 rdma/hca"; "pods" for the number of tasks
    NodeId node = {};  // of others
    MilliGpu gpus{0};  // of the node, that others use
};

// What others use. O(1) on a cluster without others.
std::optional<Lack> lack_by_others(const PoolView& view, ShapeId shape, int tasks,
                                   std::span<const NodeId> nodes, Moment moment);
// The rest.
std::optional<Lack> lack_beside(const PoolView& view, ShapeId shape, int tasks,
                                std::span<const NodeId> nodes, Moment moment);

}  // namespace berth::scheduling
