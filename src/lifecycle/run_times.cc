// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/run_times.h"

#include <algorithm>
#include <bit>

namespace berth::lifecycle {
namespace {

using model::Duration;
using model::Evidence;
using model::JobRecord;

std::int64_t milli_gpus(const model::TaskRequest& request) {
    return request.share.value * request.gpus;
}

// How long it has run in all, pauses left out, as if always with its whole gang.
Duration time_run(const JobRecord& job, model::TimePoint now) {
    std::int64_t milli = milli_gpus(job.spec.request) * job.spec.tasks_min;
    for (const model::Companion& kind : job.spec.companions) {
        milli += milli_gpus(kind.request) * kind.count;
    }
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

model::RunTime RunTimes::left(const JobRecord& job, model::TimePoint now) const {
    const Duration run = std::max(time_run(job, now), Duration{0});
    const auto after_all = [&](Duration all, Evidence evidence) {
        return model::RunTime{std::max(all - run, kShortestRunTime), run, evidence};
    };
    const Duration declared = job.spec.expected_runtime.value_or(Duration{0});
    if (declared > run) return after_all(declared, Evidence::Declared);
    const auto known = known_.find({job.spec.project, job.spec.name});
    const Sum sum = known == known_.end() ? Sum{} : known->second;
    const Duration mean{sum.total_ms / std::max<std::int64_t>(sum.count, 1)};
    const bool is_learned = mean > run && sum.count >= kLearnedFrom;
    if (is_learned) return after_all(mean, Evidence::Learned);
    const Evidence evidence = run >= kSaysSomething ? Evidence::SoFar : Evidence::None;
    if (mean > run) return after_all(mean, evidence);
    return after_all(run + (run > Duration{0} ? run : kUnknownRunTime), evidence);
}

}  // namespace berth::lifecycle
