// SPDX-License-Identifier: Apache-2.0
//
// The groups of a gang in one word, and what they come to.
//
//   4x8@rack                            four groups of 8 tasks, each in one rack
//   2..4x8@rack                         the same, of which two start together, the others later
//   prefill:4@node,decode:8..16@rack    two groups with names, one of them elastic
//   8,8..16                             without a wish of their own
//
// A group that is given no name is called by its place in the list: "1", "2".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job/job.h"

namespace berth::model {

// The groups of the text alone are said. Errors: Invalid, with an example of what would be right.
base::Result<TopologyRequest> parse_task_groups(std::string_view text);

// The shortest text that parse_task_groups() reads as the same groups.
std::string format_task_groups(const TopologyRequest& topology);

// "4", or "8..16" where the numbers differ.
std::string format_tasks(int tasks_min, int tasks_max);

// The name of the group that is not given one.
std::string default_group_name(std::size_t position);

// Sets the job's numbers of tasks to the sums of its groups', if it has any: at the least, of those
// that start together.
void count_tasks(JobSpec& spec);

// The group of this rank; null where the job has none.
const TaskGroup* group_of(const JobSpec& spec, int rank);

// Whether names and numbers agree with each other and with the job's; the levels are not looked at.
// Errors: Invalid.
base::Status check_task_groups(const JobSpec& spec);

}  // namespace berth::model
