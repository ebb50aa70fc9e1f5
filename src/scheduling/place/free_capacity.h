// SPDX-License-Identifier: Apache-2.0
//
// How much of a node is free for tasks of one shape, and how many of them is that enough for?
// By amounts alone, as things are or as they would be if others had left. Which GPUs a task takes
// says place.h, which finds room for exactly as many. Cost: the GPUs of the node.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// How many such parts one GPU has room for.
std::int64_t parts_in(const model::GpuPart& free, const model::GpuPart& part);

// Free amounts. What a shape does not ask for is not written: memory of GPUs, other resources.
struct FreeCapacity {
    static constexpr std::int64_t kUnbounded = INT64_C(1) << 60;  // what a node does not say

    std::array<std::int32_t, model::kGpusPerNodeMax> compute;
    std::array<std::int64_t, model::kGpusPerNodeMax> gpu_memory;
    std::int64_t cpu;
    std::int64_t memory;
    std::array<std::int64_t, model::kResourcesMax> other;  // as the shape asks for them
};

// What a task of the shape takes there. Whether it may stand there is not asked.
class TaskNeed {
  public:
    TaskNeed(const PoolView& view, ShapeId shape, NodeId node);

    void read(View capacity, FreeCapacity& free) const;
    void read_when_empty(FreeCapacity& free) const;
    void copy(const FreeCapacity& from, FreeCapacity& to) const;
    // The job's task leaves, if it stands there.
    void give(FreeCapacity& free, const model::TaskPlacement& task, JobId job) const;

    // Whether there is room for one, beside the whole GPUs that others lack: those are theirs
    // first. With as much as `more` besides.
    bool fits(const FreeCapacity& free, const FreeCapacity* more = nullptr) const;
    // How many GPUs have too little free, of those it takes and others lack.
    int gpus_missing(const FreeCapacity& free) const;
    // How many of `tasks` fit; what others lack is not looked at.
    int slots(const FreeCapacity& free, int tasks) const;

  private:
    // CPU, memory and other resources: of each so much.
    void read_host(FreeCapacity& free, const auto& amount_of) const;
    bool counts_gpu_memory() const { return part_.memory > base::Bytes{0}; }
    bool has_part(const FreeCapacity& free, std::size_t gpu, const FreeCapacity* more) const;
    int gpus_fitting(const FreeCapacity& free, const FreeCapacity* more) const;
    bool has_owed(const FreeCapacity& free, const FreeCapacity* more) const;

    const cluster::Cluster& cluster_;
    NodeId node_;
    std::span<const cluster::ResourceAsk> others_;
    model::GpuPart part_;
    std::size_t node_gpus_;
    int gpus_;
    int owed_ = 0;  // whole GPUs, to others
    std::int64_t cpu_;
    std::int64_t memory_;
};

inline constexpr int kSlotsCounted = 4096;  // larger numbers are not distinguished

// As things stand, at most `tasks`; 0 on a node that is not ready, not in the pool or not allowed.
int slots_now(const PoolView& view, ShapeId shape, NodeId node, View capacity, int tasks);
// If the node were empty; whether it is ready or allowed is not asked.
int slots_when_empty(const PoolView& view, ShapeId shape, NodeId node, int tasks);

}  // namespace berth::scheduling
