// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/run_times.h"

#include <algorithm>
#include <bit>

namespace berth::lifecycle {
namespace {

using model::Duration;
using model::JobRecord;

// How long it has run in all, pauses left out, as if always with its whole gang.
Duration time_run(const JobRecord& job, model::TimePoint now) {
    const model::TaskRequest& request = job.spec.request;
    const std::int64_t milli = request.share.value * request.gpus * job.spec.tasks_min;
    Duration running{0};
    if (!job.tasks.empty() && job.last_start)
        running = now - std::max(job.settled, *job.last_start);
    if (milli > 0) {
        running = std::max(running, Duration{0});
        return Duration{job.attained_gpu_ms * 1000 / milli} + running;
    }
    const model::TimePoint end = job.finished.value_or(now);
    return job.last_start ? end - *job.last_start : Duration{0};
}

}  // namespace

void RunTimes::learn(const JobRecord& ended) {
    if (ended.state != model::JobState::Succeeded || !ended.finished) return;
    Sum& sum = known_[{ended.spec.project, ended.spec.name}];
    sum.total_ms += time_run(ended, *ended.finished).count();
    ++sum.count;
}

Duration RunTimes::left(const JobRecord& job, model::TimePoint now) const {
    const Duration run = std::max(time_run(job, now), Duration{0});
    const auto known = known_.find({job.spec.project, job.spec.name});
    if (known != known_.end()) {
        const Duration mean{known->second.total_ms / known->second.count};
        if (mean > run) return std::max(mean - run, kShortestRunTime);
    }
    const bool has_run = run > Duration{0};
    return std::max(has_run ? run : kUnknownRunTime, kShortestRunTime);
}

}  // namespace berth::lifecycle
