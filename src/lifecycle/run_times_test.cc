// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/run_times.h"

#include <doctest/doctest.h>

namespace berth::lifecycle {
namespace {

using model::Duration;
using model::JobState;

constexpr model::TimePoint kNow = base::at_ms(10'000'000);

model::JobRecord job_called(const char* name) {
    model::JobRecord job;
    job.spec.project = "nlp";
    job.spec.name = name;
    return job;
}

model::JobRecord ended(const char* name, std::int64_t ms, JobState state = JobState::Succeeded) {
    model::JobRecord job = job_called(name);
    job.state = state;
    job.last_start = kNow - Duration{ms};
    job.finished = kNow;
    job.attained_gpu_ms = ms;
    return job;
}

model::JobRecord running(const char* name, std::int64_t ms) {
    model::JobRecord job = job_called(name);
    job.state = JobState::Running;
    job.last_start = job.settled = kNow - Duration{ms};
    job.tasks.push_back({.node = {0}, .gpu_mask = 1, .share = base::kWholeGpu});
    return job;
}

TEST_CASE("it has ended before: the mean of its project and name, less what it has run") {
    RunTimes times;
    times.learn(ended("train", 100'000));
    times.learn(ended("train", 200'000));
    CHECK(times.left(job_called("train"), kNow).left == Duration{150'000});
    CHECK(times.left(running("train", 50'000), kNow).left == Duration{100'000});
    CHECK(times.left(job_called("other"), kNow).left == kUnknownRunTime);
}

TEST_CASE("only those that succeeded say how long the work takes") {
    RunTimes times;
    times.learn(ended("train", 100'000, JobState::Failed));
    times.learn(ended("train", 100'000, JobState::Cancelled));
    CHECK(times.left(job_called("train"), kNow).left == kUnknownRunTime);
}

TEST_CASE("as long again as it has run, also when it has outlived the mean") {
    RunTimes times;
    CHECK(times.left(running("x", 40'000), kNow).left == Duration{40'000});
    times.learn(ended("x", 10'000));
    CHECK(times.left(running("x", 40'000), kNow).left == Duration{40'000});
    CHECK(times.left(running("x", 100), kNow).left == Duration{9'900});
    CHECK(times.left(running("y", 0), kNow).left == kUnknownRunTime);
    CHECK(times.left(running("y", 1), kNow).left == kShortestRunTime);
}

TEST_CASE("pauses do not count") {
    model::JobRecord job = running("x", 0);
    job.state = JobState::Paused;
    job.tasks.clear();
    job.last_start = kNow - Duration{500'000};
    job.attained_gpu_ms = 30'000;
    CHECK(RunTimes().left(job, kNow).left == Duration{30'000});
}

TEST_CASE("what is known of it: declared, three ended jobs, or ten minutes of its own") {
    RunTimes times;
    const auto evidence = [&](const model::JobRecord& job) {
        return times.left(job, kNow).evidence;
    };
    CHECK(evidence(job_called("x")) == model::Evidence::None);
    CHECK(evidence(running("x", 599'999)) == model::Evidence::None);
    CHECK(evidence(running("x", 600'000)) == model::Evidence::SoFar);
    for (int i = 0; i < 2; ++i) times.learn(ended("x", 1'000'000));
    CHECK(evidence(job_called("x")) == model::Evidence::None);
    times.learn(ended("x", 1'000'000));
    CHECK(evidence(job_called("x")) == model::Evidence::Learned);
    CHECK(evidence(running("x", 1'000'000)) == model::Evidence::SoFar);  // it has outlived the mean
    model::JobRecord declared = running("x", 30'000);
    declared.spec.expected_runtime = Duration{40'000};
    CHECK(evidence(declared) == model::Evidence::Declared);
    CHECK(times.left(declared, kNow).left == Duration{10'000});
    CHECK(times.left(declared, kNow).has_run == Duration{30'000});
}

}  // namespace
}  // namespace berth::lifecycle
