// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/job_state.h"

#include <algorithm>

#include "model/job/companions.h"

namespace berth::cluster {

Job job_of(JobId id, const model::JobSpec& spec, TimePoint created) {
    Job job;
    job.id = id;
    job.created = job.waiting_since = created;
    job.priority = spec.priority;
    job.tasks_min = job.lacking = spec.tasks_min;
    job.tasks_max = spec.tasks_max;
    if (spec.topology.groups_min > 0) job.grows_by = spec.topology.groups.front().tasks_max;
    job.lacking_companions = static_cast<std::int16_t>(model::companions(spec));
    job.preemptible = spec.preemptible;
    job.kind = spec.kind;
    job.restart_cost = spec.restart_cost;
    job.expected_runtime = spec.expected_runtime.value_or(model::Duration{0});
    job.min_run = spec.min_run.value_or(kOfProject);
    job.elastic = spec.elastic;
    job.preemption_delay = spec.preemption_delay.value_or(kOfProject);
    job.pause_grace = spec.pause_grace;
    return job;
}

int Job::declared_minutes() const {
    if (expected_runtime == model::Duration{0}) return 0;
    const std::int64_t minutes =
        std::max<std::int64_t>((expected_runtime.count() + 59'999) / 60'000, 1);
    const std::int64_t step = minutes <= 60 ? 1 : minutes <= 24 * 60 ? 15 : 60;
    return static_cast<int>(std::min<std::int64_t>((minutes + step - 1) / step * step, 1 << 30));
}

MilliGpu Job::in_use(Leaving leaving) const {
    MilliGpu gpus{0};
    for (const PlacedTask& task : placed) {
        const bool counts = leaving == Leaving::Counted || !task.is_releasing;
        if (counts) gpus += task.place.gpus();
    }
    return gpus;
}

int Job::tasks_among(std::span<const TaskPlacement> places) const {
    if (!has_companions()) return static_cast<int>(places.size());
    return static_cast<int>(std::ranges::count_if(
        places, [&](const TaskPlacement& place) { return !is_companion(place.task); }));
}

int Job::tasks_placed() const {
    return static_cast<int>(std::ranges::count_if(
        placed, [&](const PlacedTask& task) { return !is_companion(task.place.task); }));
}

Ranks Job::ranks() const {
    Ranks ranks;
    for (const PlacedTask& task : placed) ranks.push_back(task.place.task);
    return ranks;
}

bool Job::grows_by_restart() const {
    // When it is about to start with some more tasks anyway, others come along at no cost.
    return elastic == model::Elastic::Restart && !is_below_minimum() && fresh_tasks == 0;
}

int Job::growth() const {
    if (!grows_by_restart()) return grows_by;
    const int worth = std::max(1, std::min((active + 3) / 4, tasks_max - active));
    return (worth + grows_by - 1) / grows_by * grows_by;
}

Ranks Job::free_ranks(int count) const {
    Ranks ranks;
    base::SmallVector<bool, 64> taken(placed.empty() ? 0 : static_cast<std::size_t>(tasks_max));
    for (const auto& [place, is_releasing] : placed) {
        if (!is_companion(place.task)) taken[static_cast<std::size_t>(place.task)] = true;
    }
    for (int task = 0; task < tasks_max && std::ssize(ranks) < count; ++task) {
        const bool is_taken = !taken.empty() && taken[static_cast<std::size_t>(task)];
        if (!is_taken) ranks.push_back(task);
    }
    return ranks;
}

}  // namespace berth::cluster
