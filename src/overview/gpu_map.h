// SPDX-License-Identifier: Apache-2.0
//
// What is each GPU used for, and by which job? Sums are those of overview.h and of the ledger: what
// a GPU with tasks does is lifecycle's to say, what is free of it the cluster's.
// Cost: O(GPUs + tasks of jobs).
#pragma once

#include <vector>

#include "lifecycle/apply.h"

namespace berth::overview {

using base::MilliGpu;

// What is used in one way.
struct GpuPart {
    model::JobId job;  // not valid: no job has it
    base::ProjectId project;
    model::GpuUse use = model::GpuUse::Free;
    MilliGpu amount = base::kWholeGpu;
};

struct SharedPart {
    std::size_t gpu = 0;  // its position
    GpuPart part;
};

struct GpuMap {
    std::vector<std::size_t> first;  // of each node, the position of its first GPU
    // All of a GPU that is not shared; of one that is, the largest part that a job has.
    std::vector<GpuPart> gpus;
    // Of shared GPUs: parts of jobs, and what another one could still have. Ordered by GPU.
    std::vector<SharedPart> shared;
};

GpuMap gpu_map_of(const lifecycle::State& state);

}  // namespace berth::overview
