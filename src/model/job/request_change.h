// SPDX-License-Identifier: Apache-2.0
//
// What does a user change of what a job asks of its GPUs? Each part that is said takes the place of
// what it was; the others stay.
#pragma once

#include <optional>

#include "model/job/job.h"

namespace berth::model {

// Of each GPU: what is promised, and the most that may be borrowed; 0 = none of it is said.
struct MemoryWish {
    Bytes promised{0};
    Bytes most{0};
};

struct RequestChange {
    std::optional<TaskRequest> gpus = {};  // how many, share and memory; of the rest nothing
    std::optional<MilliGpu> share = {};
    std::optional<MilliGpu> cap = {};  // 0 = none
    std::optional<MemoryWish> gpu_memory = {};
};

// Whole GPUs have no cap.
inline TaskRequest changed(TaskRequest request, const RequestChange& change) {
    if (change.gpus) {
        request.gpus = change.gpus->gpus;
        request.share = change.gpus->share;
        request.gpu_memory = change.gpus->gpu_memory;
        request.gpu_memory_max = change.gpus->gpu_memory_max;
    }
    if (change.share) request.share = *change.share;
    if (change.gpu_memory) {
        request.gpu_memory = change.gpu_memory->promised;
        request.gpu_memory_max = change.gpu_memory->most;
    }
    if (change.cap) {
        request.cap = *change.cap;
    } else if (request.is_whole()) {
        request.cap = MilliGpu{0};
    }
    return request;
}

}  // namespace berth::model
