// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "control/world.h"

using berth::model::Elastic;
using berth::model::JobId;
using berth::model::JobState;
using berth::ports::StopReason;
using berth::tests::saved_and_left;
using berth::tests::World;
using namespace std::chrono_literals;

namespace {

berth::model::Submission elastic(const std::string& project, int least, int most) {
    auto submission = World::job_of(project, 1);
    submission.spec.tasks_min = least;
    submission.spec.tasks_max = most;
    submission.spec.elastic = Elastic::Restart;
    return submission;
}

// With all that is idle.
JobId run_elastic(World& world) {
    const auto answer = world.submit(elastic("b", 1, 8));
    world.step();
    world.running(answer->job);
    return answer->job;
}

// Two tasks of at most eight run; six GPUs are taken.
struct Squeezed {
    World world;
    JobId first, second, job;

    Squeezed() {
        first = world.run("a", 4);
        second = world.run("b", 2);
        const auto answer = world.submit(elastic("b", 1, 8));
        world.step();
        job = answer->job;
        world.running(job);
        CHECK(world.launcher->starts.back().tasks.size() == 2);
    }

    void second_ends_after(berth::base::Duration time) {
        world.clock.advance(time);
        world.exits(second, {});
    }
};

}  // namespace

TEST_CASE("an elastic job starts with all there is, in one order") {
    World world;
    const auto answer = world.submit(elastic("a", 2, 8));
    world.step();
    REQUIRE(world.launcher->starts.size() == 1);
    CHECK(world.launcher->starts[0].tasks.size() == 8);
    CHECK(world.count("job_starting") == 1);
}

TEST_CASE("it grows by saving, stopping and starting again, once its minimum run is over") {
    Squeezed it;
    it.second_ends_after(1min);
    CHECK(it.world.launcher->stops.empty());
    // Between, it gets on in its order.
    for (int i = 0; i < 20 && it.world.launcher->stops.empty(); ++i) {
        REQUIRE(it.world.controller->next_deadline().has_value());
        it.world.clock.advance(*it.world.controller->next_deadline() - it.world.clock.now());
        it.world.step();
    }
    CHECK(it.world.state(it.job) == JobState::Running);
    CHECK(it.world.job(it.job).tasks.size() == 4);
    REQUIRE(it.world.launcher->stops.size() == 1);
    CHECK(it.world.launcher->stops[0].reason == StopReason::Restart);
    CHECK(it.world.launcher->stops[0].grace == 60s);
    CHECK(it.world.launcher->starts.size() == 3);
    it.world.exits(it.job, saved_and_left());
    REQUIRE(it.world.launcher->starts.size() == 4);
    CHECK(it.world.launcher->starts[3].attempt.attempt == 2);
    CHECK(it.world.launcher->starts[3].tasks.size() == 4);
    CHECK(it.world.launcher->starts[3].resumes);
    CHECK(it.world.state(it.job) == JobState::Starting);
    it.world.running(it.job);
    CHECK(it.world.job(it.job).pauses == 0);
    CHECK(it.world.job(it.job).lost_gpu_ms == 0);
}

TEST_CASE("growth that did not save is charged with what was lost") {
    Squeezed it;
    it.second_ends_after(10min);
    it.world.exits(it.job, {.exit_code = 143, .signal = 15, .stop_asked = true, .detail = {}});
    CHECK(it.world.state(it.job) == JobState::Starting);
    // Two GPUs were its own for ten minutes; the two it was given have computed nothing.
    CHECK(it.world.job(it.job).lost_gpu_ms == 2 * 600'000);
}

TEST_CASE("one that ended before it was asked is done, and what it was given is free") {
    Squeezed it;
    it.second_ends_after(10min);
    it.world.exits(it.job, {.exit_code = 3, .detail = {}});
    CHECK(it.world.state(it.job) == JobState::Failed);
    CHECK(it.world.launcher->starts.size() == 3);
}

TEST_CASE("it shrinks for an owner by starting again with fewer tasks") {
    World world;
    const auto answer = world.submit(elastic("a", 2, 8));
    world.step();
    world.running(answer->job);
    const auto owner = world.submit(World::job_of("b", 2));
    world.clock.advance(10s);
    world.step();
    CHECK(world.job(answer->job).releasing.size() == 2);
    CHECK(world.state(answer->job) == JobState::Running);
    REQUIRE(world.launcher->stops.size() == 1);
    CHECK(world.launcher->stops[0].attempt == berth::ports::AttemptId{answer->job, 1});
    CHECK(world.launcher->stops[0].reason == StopReason::Restart);  // not to be frozen
    world.exits(answer->job, saved_and_left());
    REQUIRE(world.launcher->starts.size() == 3);
    CHECK(world.job(answer->job).tasks.size() == 6);
    CHECK(world.job(answer->job).attempts == 2);
    CHECK(world.job(answer->job).last_pause->saved);
    CHECK(world.state(owner->job) == JobState::Starting);
    for (const auto& order : world.launcher->starts) {
        if (order.attempt.attempt == 2) CHECK(order.tasks.size() == 6);
    }
}

TEST_CASE("frozen, it comes back with the tasks that it has: not with fewer, which would fit") {
    World world;
    world.run("a", 4);
    const JobId job = run_elastic(world);
    REQUIRE(world.job(job).tasks.size() == 4);
    REQUIRE(world.pause(job));
    CHECK(world.launcher->stops.back().reason == StopReason::Pause);
    world.frozen(job, {});
    CHECK(world.job(job).frozen.size() == 4);
    const JobId other = world.run("b", 2);
    REQUIRE(world.resume(job));
    CHECK(world.state(job) == JobState::Paused);
    world.restart();
    world.frozen(job, {});
    world.step();
    CHECK(world.state(job) == JobState::Paused);
    world.exits(other, {});
    REQUIRE(world.launcher->resumes.size() == 1);
    CHECK(world.launcher->resumes[0].tasks.size() == 4);
    CHECK(world.launcher->starts.empty());
}

TEST_CASE("... nor with more; it grows when it runs") {
    Squeezed it;
    REQUIRE(it.world.pause(it.job));
    it.world.frozen(it.job, {});
    it.second_ends_after(10min);
    REQUIRE(it.world.resume(it.job));
    REQUIRE(it.world.launcher->resumes.size() == 1);
    CHECK(it.world.launcher->resumes[0].tasks.size() == 2);
    it.world.running(it.job);
    it.world.clock.advance(10min);
    it.world.step();
    CHECK(it.world.launcher->stops.back().reason == StopReason::Restart);
    it.world.exits(it.job, saved_and_left());
    CHECK(it.world.launcher->resumes.size() == 1);
    CHECK(it.world.launcher->starts.back().attempt == berth::ports::AttemptId{it.job, 2});
    CHECK(it.world.launcher->starts.back().tasks.size() == 4);
}

TEST_CASE("... unless its processes are lost: then with as many as there is room for") {
    World world;
    world.run("a", 4);
    const JobId job = run_elastic(world);
    REQUIRE(world.pause(job));
    world.frozen(job, {});
    world.run("b", 2);
    world.exits(job, {.exit_code = 137, .signal = 9, .detail = "task 0 was ended by KILL"});
    REQUIRE(world.resume(job));
    CHECK(world.launcher->starts.back().attempt == berth::ports::AttemptId{job, 2});
    CHECK(world.launcher->starts.back().tasks.size() == 2);
}

TEST_CASE("a user's pause in the midst of growing pauses all of it") {
    Squeezed it;
    it.second_ends_after(10min);
    REQUIRE(it.world.pause(it.job));
    CHECK(it.world.state(it.job) == JobState::Pausing);
    CHECK(it.world.launcher->stops.back().reason == StopReason::Restart);
    it.world.exits(it.job, saved_and_left());
    CHECK(it.world.state(it.job) == JobState::Paused);
    CHECK(it.world.launcher->starts.size() == 3);
    CHECK(it.world.job(it.job).tasks.empty());
}

TEST_CASE("a crash while it saves to grow asks it again, and starts it once") {
    Squeezed it;
    it.second_ends_after(10min);
    REQUIRE(it.world.launcher->stops.size() == 1);
    const std::string before = it.world.dump();
    REQUIRE(it.world.controller->write_snapshot());
    it.world.restart();
    CHECK(it.world.dump() == before);
    REQUIRE(it.world.launcher->stops.size() == 1);  // a new launcher, asked anew
    CHECK(it.world.launcher->stops[0].reason == StopReason::Restart);
    it.world.launcher->listener().on_running(it.world.attempt(it.job));
    it.world.step();
    it.world.exits(it.job, saved_and_left());
    REQUIRE(it.world.launcher->starts.size() == 1);
    CHECK(it.world.launcher->starts[0].tasks.size() == 4);
    it.world.restart();  // between the commit and the start
    it.world.lost(it.job, berth::ports::kNeverStarted);
    REQUIRE(it.world.launcher->starts.size() == 1);
    CHECK(it.world.launcher->starts[0].attempt == it.world.attempt(it.job));
    CHECK(it.world.launcher->starts[0].tasks.size() == 4);
}

TEST_CASE("a supervisor killed while it saves to grow: the job waits again") {
    Squeezed it;
    it.second_ends_after(10min);
    it.world.lost(it.job, "its supervisor was killed");
    CHECK(it.world.job(it.job).attempts == 2);
    CHECK(it.world.job(it.job).losses == 1);
    CHECK(it.world.launcher->starts.back().tasks.size() == 4);
}

TEST_CASE("tasks that come and go alone are not supported here, and the answer says so") {
    World world;
    auto submission = elastic("a", 1, 2);
    submission.spec.elastic = Elastic::Live;
    const auto answer = world.submit(submission);
    world.step();
    REQUIRE(answer->refusal.has_value());
    CHECK(answer->refusal->error.message ==
          "elastic: wanted restart for a job of 1 to 2 tasks; live is not supported yet");
}

TEST_CASE("tasks that ask something else are not started here, and the answer says so") {
    World world;
    auto submission = elastic("a", 1, 1);
    submission.spec.elastic = Elastic::Live;
    submission.spec.companions = {{.name = "head"}};
    const auto answer = world.submit(submission);
    world.step();
    REQUIRE(answer->refusal.has_value());
    CHECK(answer->refusal->error.message ==
          "companions: wanted none, for this server starts tasks that are all alike");
}
