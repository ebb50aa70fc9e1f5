// SPDX-License-Identifier: Apache-2.0
//
// A job whose pause keeps its processes: it waits for GPUs of its node and goes on with the attempt
// it had, whatever happens to the server meanwhile.
#include <doctest/doctest.h>

#include "control/world.h"

using berth::model::JobId;
using berth::model::JobState;
using berth::ports::StopReason;
using berth::tests::World;
using namespace std::chrono_literals;

namespace {

const berth::model::Frozen kFrozen{berth::base::Bytes{std::int64_t{8} << 30}, 310ms};

JobId run_and_freeze(World& world, const std::string& project = "a") {
    const JobId job = world.run(project, 4);
    REQUIRE(world.pause(job));
    world.frozen(job, kFrozen);
    REQUIRE(world.state(job) == JobState::Paused);
    return job;
}

}  // namespace

TEST_CASE("a frozen job holds no GPU and is resumed, not started again") {
    World world;
    const JobId job = run_and_freeze(world);
    CHECK(world.job(job).tasks.empty());
    CHECK(world.job(job).frozen.size() == 1);
    CHECK(world.job(job).last_pause->frozen == kFrozen);
    CHECK(world.job(job).last_pause->saved);
    REQUIRE(world.resume(job));
    CHECK(world.state(job) == JobState::Starting);
    CHECK(world.launcher->starts.size() == 1);
    REQUIRE(world.launcher->resumes.size() == 1);
    CHECK(world.launcher->resumes[0].attempt == berth::ports::AttemptId{job, 1});
    world.running(job);
    CHECK(world.job(job).frozen.empty());
    world.exits(job, {});
    CHECK(world.state(job) == JobState::Succeeded);
}

TEST_CASE("it waits for GPUs of its own node, though others idle, and has them when they do") {
    World world;
    const JobId job = run_and_freeze(world);
    const auto node = world.job(job).frozen.front().node;
    const JobId other = world.run("a", 4);
    REQUIRE(world.job(other).tasks.front().node == node);
    REQUIRE(world.resume(job));
    CHECK(world.state(job) == JobState::Paused);
    CHECK(world.launcher->resumes.empty());
    world.exits(other, {});
    REQUIRE(world.launcher->resumes.size() == 1);
    CHECK(world.job(job).tasks.front().node == node);
}

TEST_CASE("how an attempt would be paused is written down when it runs") {
    World world;
    world.launcher->way = {berth::model::PauseRung::Signal, "it runs on 2 nodes"};
    const JobId job = world.run("a", 4);
    CHECK(world.job(job).pause_way == world.launcher->way);
    world.restart();
    CHECK(world.job(job).pause_way.why_not == "it runs on 2 nodes");
}

TEST_CASE("a server that dies finds the frozen job again, from its log and from a snapshot") {
    for (const bool has_snapshot : {false, true}) {
        World world;
        const JobId job = run_and_freeze(world);
        world.restart_frozen(job, kFrozen, has_snapshot);
        CHECK(world.state(job) == JobState::Paused);
        CHECK(world.count("job_paused") == 1);
        REQUIRE(world.resume(job));
        CHECK(world.launcher->resumes.size() == 1);
    }
}

TEST_CASE("a crash between the commit and the resume: the order still stands") {
    World world;
    const JobId job = run_and_freeze(world);
    REQUIRE(world.resume(job));
    world.restart();
    CHECK(world.state(job) == JobState::Starting);
    CHECK(world.launcher->resumes.empty());
    world.frozen(job, kFrozen);
    CHECK(world.launcher->resumes.size() == 1);
    world.running(job);
    CHECK(world.state(job) == JobState::Running);
}

TEST_CASE("a cancelled frozen job has ended when its processes have") {
    World world;
    const JobId job = run_and_freeze(world);
    REQUIRE(world.cancel(job));
    CHECK(world.state(job) == JobState::Cancelling);
    CHECK(world.launcher->stops.back().reason == StopReason::Cancel);
    world.restart();
    CHECK(world.launcher->recovered.size() == 1);
    CHECK(world.launcher->stops.back().reason == StopReason::Cancel);
    world.exits(job, {.exit_code = 137, .signal = 9, .stop_asked = true, .detail = {}});
    CHECK(world.state(job) == JobState::Cancelled);
}

TEST_CASE("processes that die frozen, or cannot be put back, are a lost attempt") {
    World world;
    const JobId job = run_and_freeze(world);
    world.exits(job, {.exit_code = 137, .signal = 9, .detail = "task 0 was ended by KILL"});
    CHECK(world.state(job) == JobState::Queued);
    CHECK(world.job(job).losses == 1);
    REQUIRE(world.resume(job));
    CHECK(world.launcher->resumes.empty());
    CHECK(world.launcher->starts.back().attempt.attempt == 2);
    world.running(job);
    REQUIRE(world.pause(job));
    world.frozen(job, kFrozen);
    REQUIRE(world.resume(job));
    world.exits(job, {.exit_code = 137, .stop_asked = true, .killed = true, .detail = "lost"});
    CHECK(world.job(job).losses == 2);
    CHECK(world.launcher->starts.back().attempt.attempt == 3);
}

TEST_CASE("a job whose machine went down while it was frozen waits for its next attempt") {
    World world;
    const JobId job = run_and_freeze(world);
    world.restart();
    world.lost(job, "the machine was restarted");
    CHECK(world.state(job) == JobState::Queued);
    REQUIRE(world.resume(job));
    CHECK(world.launcher->starts.back().attempt.attempt == 2);
}

TEST_CASE("the reason why it was not frozen is in the receipt") {
    World world;
    const JobId job = world.run("a", 4);
    REQUIRE(world.pause(job));
    world.exits(job, {.exit_code = 0, .stop_asked = true, .detail = "no checkpoint: no room"});
    CHECK(world.job(job).last_pause->detail == "no checkpoint: no room");
    CHECK_FALSE(world.job(job).last_pause->frozen.has_value());
}

TEST_CASE("its node is to join another pool: after a while it is given up and starts elsewhere") {
    World world;
    const JobId job = run_and_freeze(world);
    const auto& cluster = world.controller->state().cluster;
    const auto node = world.job(job).frozen.front().node;
    const JobId other = world.run("a", 4);
    REQUIRE(world.resume(job));
    const auto ok = [](const berth::base::Status& status) { REQUIRE(status); };
    world.controller->set_pool({"cells", {{"cells", "a"}}, {}}, "admin", ok);
    berth::model::Node labelled = cluster.description(node);
    labelled.labels["cells"] = "a";
    world.controller->set_node(labelled, "admin", ok);
    world.step();
    world.exits(other, {});
    CHECK(world.launcher->resumes.empty());
    CHECK(world.launcher->stops.size() == 1);  // the pause
    REQUIRE(world.controller->next_deadline());
    world.clock.advance(10min);
    world.step();
    REQUIRE(world.launcher->stops.size() == 2);
    CHECK(world.launcher->stops.back().attempt == berth::ports::AttemptId{job, 1});
    CHECK(world.launcher->stops.back().reason == StopReason::Cancel);
    world.restart();  // nothing of it is written before the processes are gone
    world.step();
    CHECK(world.launcher->stops.size() >= 1);
    world.exits(job,
                {.exit_code = 137, .signal = 9, .stop_asked = true, .killed = true, .detail = {}});
    world.clock.advance(1s);
    world.step();
    world.clock.advance(1s);
    world.step();
    CHECK(world.job(job).attempts == 2);
    CHECK(world.job(job).tasks.front().node != node);
    CHECK(world.job(job).detail.starts_with("given up, since node "));
    const auto& later = world.controller->state().cluster;  // the restart made another
    CHECK(later.pool(later.nodes()[node.index()].pool).name == "cells");
}
