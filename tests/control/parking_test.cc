// SPDX-License-Identifier: Apache-2.0
//
// An idle job is parked: its GPUs are others' until it makes its next call, or a user resumes it,
// whatever happens to the server meanwhile.
#include <doctest/doctest.h>

#include "control/world.h"

using berth::model::JobId;
using berth::model::JobState;
using berth::tests::World;
using namespace std::chrono_literals;

namespace {

const berth::model::Frozen kParked{berth::base::Bytes{std::int64_t{8} << 30}, 310ms};

JobId run_session(World& world) {
    world.launcher->way = {berth::model::PauseRung::Checkpoint, ""};
    auto session = World::job_of("a", 4);
    session.spec.park_after = 60s;
    const auto answer = world.submit(session);
    world.step();
    REQUIRE(answer->is_told);
    world.running(answer->job);
    return answer->job;
}

void idle(World& world, JobId job, berth::base::Duration time) {
    world.launcher->listener().on_idle(world.attempt(job), time);
    world.step();
}

void wake(World& world, JobId job) {
    world.launcher->listener().on_waking(world.attempt(job));
    world.step();
}

JobId park(World& world) {
    const JobId job = run_session(world);
    idle(world, job, 60s);
    world.frozen(job, kParked);
    REQUIRE(world.job(job).parked_since == world.clock.now());
    return job;
}

}  // namespace

TEST_CASE("who was idle for as long as it said is parked, and nothing is written before it is") {
    World world;
    const JobId job = run_session(world);
    idle(world, job, 59s);
    CHECK(world.launcher->parks.empty());
    idle(world, job, 61s);
    CHECK(world.launcher->parks == std::vector{world.attempt(job)});
    CHECK(world.state(job) == JobState::Running);
    CHECK(world.job(job).tasks.size() == 1);
    world.frozen(job, kParked);
    CHECK(world.state(job) == JobState::Paused);
    CHECK(world.job(job).tasks.empty());
    CHECK(world.job(job).last_pause->frozen == kParked);
    CHECK(world.count("job_parked") == 1);
    CHECK(world.launcher->resumes.empty());  // though its GPUs idle
}

TEST_CASE("who cannot be checkpointed is not parked") {
    World world;
    const JobId job = run_session(world);
    world.launcher->way = {berth::model::PauseRung::Signal, "no driver",
                           "no checkpoint: no driver"};
    const JobId other = world.run("b", 4);
    idle(world, other, 3600s);  // it did not ask for it
    CHECK(world.launcher->parks.empty());
    idle(world, job, 60s);
    CHECK(world.launcher->parks.size() == 1);
}

TEST_CASE("its next call brings it back, with the attempt it had, from the borrower") {
    World world;
    const JobId job = park(world);
    const auto node = world.job(job).frozen.front().node;
    REQUIRE(world.set_project("b", 0));
    const JobId borrower = world.run("b", 4);
    const JobId second = world.run("b", 4);
    const JobId there = world.job(borrower).tasks.front().node == node ? borrower : second;
    wake(world, job);
    CHECK(world.count("job_woken") == 1);
    CHECK(world.state(there) == JobState::Pausing);
    world.exits(there, berth::tests::saved_and_left());
    REQUIRE(world.launcher->resumes.size() == 1);
    CHECK(world.launcher->resumes[0].attempt == berth::ports::AttemptId{job, 1});
    world.running(job);
    CHECK(world.state(job) == JobState::Running);
    wake(world, job);  // old news
    CHECK(world.count("job_woken") == 1);
}

TEST_CASE(
    "a server that dies finds it parked, from its log and from a snapshot, and hears the call") {
    for (const bool has_snapshot : {false, true}) {
        World world;
        const JobId job = park(world);
        world.restart_frozen(job, kParked, has_snapshot);
        CHECK(world.count("job_parked") == 1);
        CHECK(world.job(job).parked_since.has_value());
        wake(world, job);
        CHECK(world.launcher->resumes.size() == 1);
    }
}

TEST_CASE("a crash between the parking and its commit: the supervisor says it again") {
    World world;
    const JobId job = run_session(world);
    idle(world, job, 60s);
    world.restart();
    CHECK(world.state(job) == JobState::Running);
    world.frozen(job, kParked);
    CHECK(world.job(job).parked_since.has_value());
}

TEST_CASE("a user resumes it, pauses it, cancels it") {
    World world;
    const JobId job = park(world);
    REQUIRE(world.pause(job));
    CHECK(world.job(job).held);
    wake(world, job);
    CHECK(world.launcher->resumes.empty());
    REQUIRE(world.resume(job));
    CHECK(world.launcher->resumes.size() == 1);
    world.running(job);
    idle(world, job, 60s);
    world.frozen(job, kParked);
    REQUIRE(world.resume(job));
    CHECK(world.launcher->resumes.size() == 2);
    world.running(job);
    idle(world, job, 60s);
    world.frozen(job, kParked);
    REQUIRE(world.cancel(job));
    CHECK(world.state(job) == JobState::Cancelling);
    CHECK(world.launcher->stops.back().reason == berth::ports::StopReason::Cancel);
}

TEST_CASE("its processes run on and may end by themselves; killed, it waits for its next attempt") {
    World world;
    const JobId job = park(world);
    world.exits(job, {.exit_code = 3, .detail = "task 0 exited with 3"});
    CHECK(world.state(job) == JobState::Failed);
    const JobId other = park(world);
    world.exits(other, {.exit_code = 137, .signal = 9, .detail = "task 0 was ended by KILL"});
    CHECK(world.state(other) == JobState::Starting);
    CHECK(world.attempt(other).attempt == 2);
}
