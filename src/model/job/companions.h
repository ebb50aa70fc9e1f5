// SPDX-License-Identifier: Apache-2.0
//
// What do the companions of a gang come to? The ranks of its tasks come first, `tasks_max` of them,
// then those of its companions, kind by kind.
#pragma once

#include <string>

#include "base/result.h"
#include "model/job/job.h"

namespace berth::model {

inline constexpr int kCompanionKindsMax = 8;  // of one job
inline constexpr int kCompanionsMax = 1'024;  // of one job

int companions(const JobSpec& spec);

// The kind that has this rank; null where a task of the gang has it, or none.
const Companion* companion_of(const JobSpec& spec, int rank);

// What the task of this rank asks, be it a companion or not.
const TaskRequest& request_of(const JobSpec& spec, int rank);

// Whether some of its companions ask for GPUs, other ones than its tasks do.
bool has_two_gpu_requests(const JobSpec& spec);

// "1 T4 GPU, 4 CPUs and 16G of memory"; "nothing that is counted".
std::string format_request(const TaskRequest& request, const std::string& gpu_model = {});

// Whether their numbers, names and GPUs make sense; what each asks beside of a node is not looked
// at.
// Errors: Invalid.
base::Status check_companions(const JobSpec& spec);

}  // namespace berth::model
