// SPDX-License-Identifier: Apache-2.0
#include "model/description.h"

#include <algorithm>

namespace berth::model {

std::size_t places_before_promise(const JobDescription& job) {
    const auto promised =
        std::ranges::find(job.tasks, TaskState::Promised, &TaskDescription::state);
    const auto is_left = [](const TaskDescription& task) {
        return task.state == TaskState::Releasing || task.state == TaskState::Frozen ||
               task.state == TaskState::Pending;
    };
    const bool has_both =
        promised != job.tasks.end() && std::all_of(job.tasks.begin(), promised, is_left) &&
        std::ranges::any_of(job.tasks, [](const TaskDescription& task) {
            return task.state == TaskState::Releasing || task.state == TaskState::Frozen;
        });
    return has_both ? static_cast<std::size_t>(promised - job.tasks.begin()) : 0;
}

}  // namespace berth::model
