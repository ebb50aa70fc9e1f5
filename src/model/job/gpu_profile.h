// SPDX-License-Identifier: Apache-2.0
//
// What did a task of a job take of each of its GPUs, as it was measured on its node, and what
// would it do with?
#pragma once

#include <optional>
#include <string>

#include "model/job/job.h"

namespace berth::model {

// The largest of its GPUs counts. Memory includes the driver's contexts.
struct GpuProfile {
    std::int64_t iterations = 0;          // that were measured; 0: none were found
    std::int64_t iteration_us = 0;        // length of one, alone on the GPU where it was
    std::optional<MilliGpu> compute = {};  // part of the GPU's time; none: not measured
    Bytes persistent{0};                  // held between iterations
    Bytes peak{0};                        // held within one
    Bytes highest{0};                     // held ever

    bool operator==(const GpuProfile&) const = default;
};

// The profile of the jobs alike in project, name, user and GPUs of a task.
struct ProfileLedger {
    std::string project;
    std::string name;
    std::string user;
    int gpus = 0;
    TimePoint measured;
    GpuProfile profile;
    bool is_parted = false;  // one of them slowed a job beside it down, or was: they are not packed
};

// The part of a GPU to ask for: a tenth more time than was used, in steps of 0.05, and a twentieth
// more memory, in steps of 512 MiB. None where the time is not known.
std::optional<GpuPart> fitting_part(const GpuProfile& profile);

}  // namespace berth::model
