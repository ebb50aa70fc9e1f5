// SPDX-License-Identifier: Apache-2.0
//
// Which jobs may be packed, two on one GPU, and as what part of it does each count then? Jobs that
// say they may share one, once they are measured, and that leave it half idle. docs/adr/0019.
//
// Memory first: what a job keeps between its iterations and a tenth more, what it needs within them
// and a twentieth more (the margins of Salus: Yu and Chowdhury, MLSys 2020), no less than it ever
// held, and the driver's context again in reserve. Then time: two that together use at most 120 %
// of the SMs. As a part of the GPU that is the SM use by 1.2, and at least 334 thousandths, since
// at most two are packed; so a job that uses more than 80 % is alone.
#pragma once

#include <optional>

#include "model/job/gpu_profile.h"
#include "model/job/job.h"

namespace berth::model {

inline constexpr MilliGpu kPackedTogetherMax{1200};  // SM use of all jobs packed on a GPU
inline constexpr std::size_t kPackedMax = 2;  // on one GPU
// Fewer iterations say too little.
inline constexpr std::int64_t kIterationsToPack = 10;

// What a job of this profile takes of a GPU on which another one may be packed; `smallest`: the
// node with the least GPU memory on which it may run. None: it is not to be packed, or not known.
std::optional<GpuPart> packed_part(const GpuProfile& profile, const Node& smallest);

// Whether it may ever be packed: a train job that can be paused, of one task with one whole GPU.
bool can_share(const JobSpec& spec);

// What each of its tasks asks for, packed or not.
TaskRequest asked(const JobSpec& spec);

}  // namespace berth::model
