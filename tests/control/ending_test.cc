// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "control/world.h"
#include "lifecycle/losses.h"

using berth::base::ErrorCode;
using berth::model::JobId;
using berth::model::JobState;
using berth::ports::StopReason;
using berth::tests::saved_and_left;
using berth::tests::World;
using namespace std::chrono_literals;

TEST_CASE("exit codes decide between succeeded and failed") {
    World world;
    const JobId good = world.run("a", 1);
    const JobId bad = world.run("a", 1);
    world.exits(good, {});
    world.exits(bad, {.exit_code = 3, .detail = "task 0 exited with 3"});
    CHECK(world.state(good) == JobState::Succeeded);
    CHECK(world.state(bad) == JobState::Failed);
    CHECK(world.disk.finished.at(bad).exit_code == 3);
    CHECK(world.disk.finished.at(bad).detail == "task 0 exited with 3");
}

TEST_CASE("cancel in every state") {
    World world;
    SUBCASE("queued: at once, without the launcher") {
        world.run("a", 4);
        world.run("b", 4);
        const auto job = world.submit(World::job_of("a", 4));
        world.step();
        REQUIRE(world.cancel(job->job));
        CHECK(world.state(job->job) == JobState::Cancelled);
        CHECK(world.launcher->stops.empty());
    }
    SUBCASE("starting") {
        const auto job = world.submit(World::job_of("a", 4));
        world.step();
        REQUIRE(world.cancel(job->job));
        CHECK(world.state(job->job) == JobState::Cancelling);
        world.running(job->job);  // the launcher did not know yet
        CHECK(world.state(job->job) == JobState::Cancelling);
        world.exits(job->job, saved_and_left());
        CHECK(world.state(job->job) == JobState::Cancelled);
    }
    SUBCASE("running, and hurried up the second time") {
        const JobId job = world.run("a", 4);
        REQUIRE(world.cancel(job));
        CHECK(world.launcher->stops.back().reason == StopReason::Cancel);
        REQUIRE(world.cancel(job));
        CHECK(world.launcher->stops.size() == 1);
        REQUIRE(world.cancel(job, 0ms));
        CHECK(world.launcher->stops.size() == 2);
        CHECK(world.launcher->stops.back().grace == 0ms);
        world.exits(
            job, {.exit_code = 137, .signal = 9, .stop_asked = true, .killed = true, .detail = {}});
        CHECK(world.state(job) == JobState::Cancelled);
    }
    SUBCASE("pausing") {
        const JobId job = world.run("a", 4);
        REQUIRE(world.pause(job));
        REQUIRE(world.cancel(job));
        CHECK(world.launcher->stops.back().reason == StopReason::Cancel);
        CHECK(world.pause(job).error().code == ErrorCode::Conflict);
        CHECK(world.resume(job).error().code == ErrorCode::Conflict);
        world.exits(job, saved_and_left());
        CHECK(world.state(job) == JobState::Cancelled);
    }
    SUBCASE("paused") {
        const JobId job = world.run("a", 4);
        REQUIRE(world.pause(job));
        world.exits(job, saved_and_left());
        REQUIRE(world.cancel(job));
        CHECK(world.state(job) == JobState::Cancelled);
    }
    SUBCASE("ended and unknown") {
        const JobId job = world.run("a", 4);
        world.exits(job, {});
        CHECK(world.cancel(job).error().code == ErrorCode::Conflict);
        CHECK(world.cancel(JobId{99}).error().code == ErrorCode::NotFound);
    }
}

TEST_CASE("an attempt that was never started is started again, under the same number") {
    World world;
    const auto job = world.submit(World::job_of("a", 4));
    world.step();
    world.lost(job->job, berth::ports::kNeverStarted);
    CHECK(world.launcher->starts_of({job->job, 1}) == 2);
    CHECK(world.count("attempt_lost") == 0);
}

TEST_CASE("lost attempts are tried again, but not for ever") {
    World world;
    const JobId job = world.run("a", 4);
    for (int i = 1; i <= berth::control::kLostAttemptsMax; ++i) {
        world.lost(job, "its supervisor was killed");
        REQUIRE(world.state(job) == JobState::Starting);
        CHECK(world.job(job).attempts == i + 1);
        world.running(job);
    }
    world.lost(job, "its supervisor was killed");
    CHECK(world.state(job) == JobState::Failed);
}

TEST_CASE("a loss after progress is the first one again") {
    constexpr int kMany = 3 * berth::control::kLostAttemptsMax;
    World world;
    const JobId job = world.run("a", 1);
    const auto lose_and_start_again = [&] {
        world.lost(job, "the machine was restarted");
        REQUIRE(world.state(job) == JobState::Starting);
        world.running(job);
    };
    SUBCASE("it had run for ten minutes") {
        for (int i = 0; i < kMany; ++i) {
            world.clock.advance(berth::lifecycle::kProgress);
            lose_and_start_again();
            CHECK(world.job(job).losses == 1);
        }
    }
    SUBCASE("it had saved") {
        for (int i = 0; i < kMany; ++i) {
            world.saved(job);
            CHECK(world.job(job).losses == 0);
            lose_and_start_again();
        }
    }
    SUBCASE("less than that is none, however long it waited in between") {
        for (int i = 1; i <= berth::control::kLostAttemptsMax; ++i) {
            world.clock.advance(berth::lifecycle::kProgress - berth::base::Duration{1});
            lose_and_start_again();
            CHECK(world.job(job).losses == i);
        }
        world.lost(job, "the machine was restarted");
        CHECK(world.state(job) == JobState::Failed);
    }
}

TEST_CASE("the more a start costs, the longer has a job to run for its progress") {
    World world;
    auto submission = World::job_of("a", 1);
    submission.spec.restart_cost = 3 * berth::lifecycle::kProgress;
    const auto answer = world.submit(submission);
    world.step();
    world.running(answer->job);
    world.clock.advance(6 * berth::lifecycle::kProgress - berth::base::Duration{1});
    world.lost(answer->job, "the machine was restarted");
    world.running(answer->job);
    world.lost(answer->job, "the machine was restarted");
    CHECK(world.job(answer->job).losses == 2);
    world.running(answer->job);
    world.clock.advance(6 * berth::lifecycle::kProgress);
    world.lost(answer->job, "the machine was restarted");
    CHECK(world.job(answer->job).losses == 1);
}

TEST_CASE("reports about older attempts and ended jobs change nothing") {
    World world;
    const JobId job = world.run("a", 4);
    REQUIRE(world.pause(job));
    world.exits(job, saved_and_left());
    REQUIRE(world.resume(job));
    world.running(job);
    const std::size_t events = world.disk.events.size();
    world.launcher->listener().on_exit({job, 1}, {});
    world.launcher->listener().on_lost({job, 1}, "old");
    world.launcher->listener().on_running({job, 2});
    world.launcher->listener().on_exit({JobId{77}, 1}, {});
    world.step();
    CHECK(world.disk.events.size() == events);
    CHECK(world.state(job) == JobState::Running);
}
