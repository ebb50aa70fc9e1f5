// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "control/world.h"

using berth::base::ErrorCode;
using berth::model::JobId;
using berth::model::JobState;
using berth::model::Rule;
using berth::ports::StopReason;
using berth::tests::saved_and_left;
using berth::tests::World;
using namespace std::chrono_literals;

TEST_CASE("a user pauses and resumes: the job keeps its number and starts its second attempt") {
    World world;
    const JobId job = world.run("a", 4);
    REQUIRE(world.pause(job));
    CHECK(world.state(job) == JobState::Pausing);
    REQUIRE(world.launcher->stops.size() == 1);
    CHECK(world.launcher->stops[0].reason == StopReason::Pause);
    CHECK(world.launcher->stops[0].grace == 60s);
    CHECK(world.pause(job));  // asked again: nothing more to do
    CHECK(world.launcher->stops.size() == 1);
    world.exits(job, saved_and_left());
    CHECK(world.state(job) == JobState::Paused);
    CHECK(world.job(job).last_pause->saved);
    CHECK(world.launcher->starts.size() == 1);
    REQUIRE(world.resume(job));
    REQUIRE(world.launcher->starts.size() == 2);
    CHECK(world.launcher->starts[1].attempt.attempt == 2);
    CHECK(world.launcher->starts[1].resumes);
    CHECK_FALSE(world.launcher->starts[0].resumes);
}

TEST_CASE("a job that says its grace has it, one that says none has the server's") {
    auto policy = berth::model::berth_policy();
    policy.pause_grace = 1s;
    World world(policy);
    using Said = std::optional<berth::base::Duration>;
    for (const auto& [said, grace] : {std::pair{Said{60s}, 60s}, {Said{}, 1s}, {Said{0s}, 0s}}) {
        auto submission = World::job_of("a", 1);
        if (said) submission.launch.pause.grace = *said;
        const auto answer = world.submit(submission);
        world.step();
        world.running(answer->job);
        REQUIRE(world.pause(answer->job));
        CHECK(world.launcher->starts.back().grace == grace);
        CHECK(world.launcher->stops.back().grace == grace);
    }
}

TEST_CASE("an owner is promised the GPUs of a job for as long as that may take to leave") {
    World world;
    world.run("b", 4);
    world.clock.advance(1s);
    auto slow = World::job_of("b", 4);
    slow.launch.pause.grace = 10min;
    const auto susan = world.submit(slow);
    world.step();
    world.running(susan->job);
    const auto joe = world.submit(World::job_of("a", 4));
    world.step();
    const auto asked = world.clock.now();
    CHECK(world.job(susan->job).last_pause->deadline == asked + 10min);
    CHECK(world.job(joe->job).hold_deadline == asked + 10min + 30s);
    world.restart();
    CHECK(world.job(joe->job).hold_deadline == asked + 10min + 30s);
}

TEST_CASE("an owner's job takes back lent GPUs: pause, hold, start, and resume by itself") {
    World world;
    const JobId susan1 = world.run("b", 4);
    world.clock.advance(1s);
    const JobId susan2 = world.run("b", 4);
    const auto joe = world.submit(World::job_of("a", 4));
    world.step();
    CHECK(world.state(susan2) == JobState::Pausing);
    CHECK(world.state(susan1) == JobState::Running);
    CHECK(world.job(susan2).last_pause->rule == Rule::Reclaim);
    CHECK(world.job(susan2).last_pause->beneficiary == joe->job);
    CHECK(world.state(joe->job) == JobState::Queued);
    CHECK_FALSE(world.job(joe->job).reserved.empty());
    world.clock.advance(2s);
    world.exits(susan2, saved_and_left());
    CHECK(world.state(joe->job) == JobState::Starting);
    CHECK(world.state(susan2) == JobState::Paused);
    CHECK(world.resume(susan2).error().code == ErrorCode::Conflict);
    world.running(joe->job);
    world.exits(joe->job, {});
    CHECK(world.state(susan2) == JobState::Starting);
    CHECK(world.job(susan2).attempts == 2);
}

TEST_CASE("a job killed at the end of its grace, or dead of the signal, has not saved") {
    World world;
    for (const berth::ports::AttemptExit& exit :
         {berth::ports::AttemptExit{
              .exit_code = 137, .signal = 9, .stop_asked = true, .killed = true, .detail = {}},
          berth::ports::AttemptExit{
              .exit_code = 143, .signal = 15, .stop_asked = true, .detail = {}}}) {
        const JobId job = world.run("a", 4);
        world.clock.advance(10s);
        REQUIRE(world.pause(job));
        world.exits(job, exit);
        CHECK(world.state(job) == JobState::Paused);
        CHECK_FALSE(world.job(job).last_pause->saved);
        CHECK(world.job(job).lost_gpu_ms == 40'000);
        REQUIRE(world.cancel(job));
    }
}

TEST_CASE("an attempt that ended before it was asked has done its work") {
    World world;
    const JobId job = world.run("a", 4);
    REQUIRE(world.pause(job));
    world.exits(job, {});
    CHECK(world.state(job) == JobState::Succeeded);
}

TEST_CASE("a stop that the machine ordered is no end: the job waits again") {
    World world;
    const JobId job = world.run("a", 4);
    world.exits(job, saved_and_left());
    CHECK(world.state(job) == JobState::Starting);
    CHECK(world.job(job).attempts == 2);
    CHECK(world.count("attempt_lost") == 1);
}

TEST_CASE("a paused job that was promised GPUs gives the promise back") {
    World world;
    world.run("b", 4);
    world.clock.advance(1s);
    const JobId victim = world.run("b", 4);
    const auto joe = world.submit(World::job_of("a", 4));
    world.step();
    REQUIRE_FALSE(world.job(joe->job).reserved.empty());
    REQUIRE(world.pause(joe->job));
    CHECK(world.job(joe->job).reserved.empty());
    world.exits(victim, saved_and_left());
    CHECK(world.state(joe->job) == JobState::Queued);
    CHECK(world.state(victim) == JobState::Starting);
}

TEST_CASE("a stop whose outcome never comes is ordered again without grace") {
    World world;
    const JobId job = world.run("a", 4);
    REQUIRE(world.pause(job));
    // Between, it gets on in its order.
    for (int i = 0; i < 20 && world.launcher->stops.size() == 1; ++i) {
        const auto deadline = world.controller->next_deadline();
        REQUIRE(deadline.has_value());
        world.clock.advance(*deadline - world.clock.now());
        world.step();
    }
    REQUIRE(world.launcher->stops.size() == 2);
    CHECK(world.launcher->stops[1].grace == 0ms);
    world.step();
    CHECK(world.launcher->stops.size() == 2);
}

TEST_CASE("a job that moves saves, leaves and restarts at its new place with its next attempt") {
    World world;
    const JobId first = world.run("a", 3);
    const JobId one = world.run("b", 1);    // beside it
    const JobId three = world.run("b", 3);  // on the other node
    world.exits(first, {});
    const auto old_place = world.job(one).tasks;
    world.clock.advance(10min);
    const auto four = world.submit(World::job_of("a", 4));
    world.step();
    CHECK(world.state(one) == JobState::Running);  // it would cost more than four has lost
    for (int i = 0; i < 20 && world.state(one) == JobState::Running; ++i) {
        world.clock.advance(*world.controller->next_deadline() - world.clock.now());
        world.step();
    }
    REQUIRE(world.state(one) == JobState::Pausing);
    CHECK(world.job(one).last_pause->rule == Rule::Consolidate);
    CHECK(world.job(one).last_pause->beneficiary == four->job);
    const auto new_place = world.job(one).reserved;
    REQUIRE(new_place.size() == 1);
    CHECK(new_place != old_place);
    world.restart();  // the log knows both promises
    CHECK(world.job(one).reserved == new_place);
    world.exits(one, saved_and_left());
    CHECK(world.job(one).tasks == new_place);
    REQUIRE(world.launcher->starts.size() == 2);
    CHECK(world.launcher->starts[0].attempt == berth::ports::AttemptId{one, 2});
    CHECK(world.launcher->starts[0].resumes);
    CHECK(world.launcher->starts[1].attempt == berth::ports::AttemptId{four->job, 1});
    CHECK(world.state(three) == JobState::Running);
}

TEST_CASE("work that the job says it saved is not lost any more") {
    World world;
    const JobId job = world.run("a", 4);
    world.clock.advance(10s);
    world.saved(job);
    CHECK(world.job(job).last_checkpoint == world.clock.now());
    world.clock.advance(1s);
    REQUIRE(world.pause(job));
    CHECK(world.job(job).last_pause->cost.unsaved_gpu_ms == 4'000);
    world.saved(job);  // while it is pausing, too
    world.exits(job, saved_and_left());
    world.launcher->listener().on_saved(world.attempt(job));  // old news
    world.step();
    CHECK(world.count("checkpoint_saved") == 2);
}

TEST_CASE("a job that waits for minimum runs says so until one is over, which is no event") {
    auto policy = berth::model::berth_policy();
    policy.min_run_binds_all = true;
    World world(policy);
    world.run("a", 4);
    world.run("a", 4);
    const auto waiting = world.submit(World::job_of("b", 1));
    world.step();
    const auto cause = [&] { return world.controller->why(waiting->job)->cause; };
    CHECK(cause() == berth::model::Cause::MinRuntime);
    world.clock.advance(policy.min_run - 1s);
    CHECK(cause() == berth::model::Cause::MinRuntime);
    world.clock.advance(1s);
    CHECK(cause() != berth::model::Cause::MinRuntime);
}
