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

// "4 CPUs, 16G of memory and 2 rdma/hca"; "nothing that is counted".
std::string format_request(const TaskRequest& request);

// Whether their numbers and names make sense; what each asks of a node is not looked at.
// Errors: Invalid.
base::Status check_companions(const JobSpec& spec);

}  // namespace berth::model
