// SPDX-License-Identifier: Apache-2.0
#include "model/description.h"

#include <algorithm>

namespace berth::model {

std::size_t places_before_promise(const JobDescription& job) {
    const auto promised =
        std::ranges::find(job.tasks, TaskState::Promised, &TaskDescription::state);
    const auto leaves = [](const TaskDescription& task) {
        return task.state == TaskState::Releasing || task.state == TaskState::Frozen;
    };
    const bool has_both = promised != job.tasks.end() &&
                          std::all_of(job.tasks.begin(), promised,
                                      [&](const TaskDescription& task) {
                                          return leaves(task) || task.state == TaskState::Pending;
                                      }) &&
                          std::ranges::any_of(job.tasks, leaves);
    return has_both ? static_cast<std::size_t>(promised - job.tasks.begin()) : 0;
}

}  // namespace berth::model
