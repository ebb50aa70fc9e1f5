// SPDX-License-Identifier: Apache-2.0
//
// A job asks for another part of its GPUs: at once where it runs, or after it has left them; never
// more than rights and its neighbours leave, and whatever happens to the server meanwhile.
#include <doctest/doctest.h>

#include "control/world.h"

using namespace berth;
using model::JobId;
using model::JobState;
using tests::World;
using namespace std::chrono_literals;

namespace {

model::RequestChange share(std::int64_t milli) { return {.share = base::MilliGpu{milli}}; }

base::Status set(World& world, JobId job, const control::ChangeOfRequest& wish) {
    std::optional<base::Status> answer;
    world.controller->set_request(job, wish, "susan",
                                  [&](const base::Status& status) { answer = status; });
    world.step();
    REQUIRE(answer.has_value());
    return *answer;
}

model::Submission half() {
    auto submission = World::job_of("a", 1);
    submission.spec.request.share = base::MilliGpu{500};
    return submission;
}

JobId run_half(World& world) {
    const auto answer = world.submit(half());
    world.step();
    world.running(answer->job);
    return answer->job;
}

}  // namespace

TEST_CASE("a running job is narrowed before and resized after its change is written down") {
    World world;
    const JobId job = run_half(world);
    REQUIRE(set(world, job, {share(250)}));
    CHECK(world.count("job_request_set") == 1);
    REQUIRE(world.launcher->narrowed.size() == 1);
    CHECK(world.launcher->narrowed[0].tasks[0].share == base::MilliGpu{250});
    REQUIRE(world.launcher->resizes.size() == 1);
    CHECK(world.launcher->resizes[0].id == world.attempt(job));
    CHECK(world.launcher->resizes[0].tasks[0].share == base::MilliGpu{250});
    CHECK(world.state(job) == JobState::Running);
    CHECK(world.launcher->stops.empty());
    // What it has already changes nothing.
    REQUIRE(set(world, job, {share(250)}));
    CHECK(world.count("job_request_set") == 1);
}

TEST_CASE("what its processes use cannot be taken from them, and nothing is written down") {
    World world;
    const JobId job = run_half(world);
    world.launcher->why_not_narrow = base::Error{base::ErrorCode::Conflict, "it uses 9G now"};
    const auto refused = set(world, job, {share(250)});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message ==
          "job " + std::to_string(job.value) +
              " cannot have that where it runs: it uses 9G now; with --requeue it leaves its GPUs "
              "and waits until it can have that");
    CHECK(world.count("job_request_set") == 0);
    CHECK(world.launcher->resizes.empty());
    CHECK(world.job(job).spec.request.share == base::MilliGpu{500});
}

TEST_CASE("what does not fit in place is waited for only where that was said") {
    World world;
    const JobId job = run_half(world);
    model::TaskRequest two;
    two.gpus = 2;
    CHECK_FALSE(set(world, job, {{.gpus = two}}));
    CHECK(world.state(job) == JobState::Running);
    REQUIRE(set(world, job, {{.gpus = two}, true}));
    CHECK(world.state(job) == JobState::Pausing);
    REQUIRE(world.launcher->stops.size() == 1);
    CHECK(world.launcher->stops[0].reason == ports::StopReason::Restart);
    world.restart();
    REQUIRE(world.launcher->stops.size() == 1);  // a server that comes new asks the same
    CHECK(world.launcher->stops[0].reason == ports::StopReason::Restart);
    world.exits(job, tests::saved_and_left());
    CHECK(world.job(job).spec.request.gpus == 2);
    CHECK_FALSE(world.job(job).held);
    world.step();
    REQUIRE(world.launcher->starts_of(world.attempt(job)) == 1);
    CHECK(world.launcher->starts.back().tasks[0].gpu_indices.size() == 2);
}

TEST_CASE("a change that could never run is refused to one that waits") {
    World world;
    auto submission = World::job_of("a", 4);
    submission.spec.preemptible = false;
    const JobId first = world.run("a", 4);
    world.run("b", 4);
    const auto waiting = world.submit(submission);
    world.step();
    REQUIRE(world.state(waiting->job) == JobState::Queued);
    model::TaskRequest many;
    many.gpus = 5;
    const auto refused = set(world, waiting->job, {{.gpus = many}});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("this job could never run here") == 0);
    model::TaskRequest one;
    REQUIRE(set(world, waiting->job, {{.gpus = one}}));
    CHECK(world.job(waiting->job).spec.request.gpus == 1);
    CHECK(world.launcher->narrowed.empty());
    CHECK(world.state(first) == JobState::Running);
}

TEST_CASE("who cannot be paused grows within its quota only") {
    World world;
    const JobId three = world.run("a", 3);
    auto submission = half();
    submission.spec.preemptible = false;
    submission.spec.priority = 100;
    const auto answer = world.submit(submission);
    world.step();
    world.running(answer->job);
    REQUIRE(set(world, answer->job, {share(1000)}));
    REQUIRE(world.set_project("a", 0));
    REQUIRE(set(world, answer->job, {share(250)}));
    const auto refused = set(world, answer->job, {share(750)});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("cannot have 0.5 GPUs more: jobs of project \"a\"") !=
          std::string::npos);
    CHECK(world.state(three) != JobState::Queued);
}

TEST_CASE("a change is made once under its key, also by the next server") {
    World world;
    const JobId job = run_half(world);
    REQUIRE(set(world, job, {share(250), false, "k"}));
    REQUIRE(set(world, job, {share(400), false, "other"}));
    REQUIRE(set(world, job, {share(250), false, "k"}));
    const auto something_else = set(world, job, {share(300), false, "k"});
    REQUIRE_FALSE(something_else);
    CHECK(something_else.error().code == base::ErrorCode::Conflict);
    CHECK(world.job(job).spec.request.share == base::MilliGpu{400});
    world.restart();
    REQUIRE(set(world, job, {share(250), false, "k"}));
    CHECK_FALSE(set(world, job, {share(300), false, "k"}));
    CHECK(world.job(job).spec.request.share == base::MilliGpu{400});
    const JobId another = run_half(world);
    CHECK_FALSE(set(world, another, {share(250), false, "k"}));
}

TEST_CASE("a submission repeated under its key is the same job, whatever it asks by now") {
    World world;
    auto submission = half();
    submission.key = "k";
    const auto first = world.submit(submission);
    world.step();
    REQUIRE(set(world, first->job, {share(250)}));
    const auto again = world.submit(submission);
    world.step();
    CHECK(again->job == first->job);
}

TEST_CASE("the next server has the job's part as it was written down, from log and snapshot") {
    World world;
    const JobId job = run_half(world);
    REQUIRE(set(world, job, {share(250)}));
    for (const bool has_snapshot : {false, true}) {
        if (has_snapshot) REQUIRE(world.controller->write_snapshot());
        const std::string before = world.dump();
        world.restart();
        CHECK(world.dump() == before);
        CHECK(world.job(job).tasks[0].share == base::MilliGpu{250});
    }
}

TEST_CASE("where shares are strict a share is its cap, from the moment that they become so") {
    World world;
    const JobId job = run_half(world);
    CHECK(world.launcher->starts.back().tasks[0].cap == base::MilliGpu{0});
    REQUIRE(set(world, job, {{.cap = base::MilliGpu{800}}}));
    CHECK(world.launcher->resizes.back().tasks[0].cap == base::MilliGpu{800});
    REQUIRE(world.set_policy({{"strict_shares", "yes"}}));
    CHECK(world.launcher->resizes.back().tasks[0].cap == base::MilliGpu{500});
    REQUIRE(world.set_policy({{"strict_shares", "no"}}));
    CHECK(world.launcher->resizes.back().tasks[0].cap == base::MilliGpu{800});
    const auto strict_pool = [&](bool strict) {
        model::Pool pool{.name = model::kDefaultPool, .labels = {}, .exchange = {}};
        pool.strict_shares = strict;
        world.controller->set_pool(pool, "admin", [](const base::Status& s) { REQUIRE(s); });
        world.step();
    };
    strict_pool(true);
    CHECK(world.launcher->resizes.back().tasks[0].cap == base::MilliGpu{500});
    strict_pool(false);
    CHECK(world.launcher->resizes.back().tasks[0].cap == base::MilliGpu{800});
}
