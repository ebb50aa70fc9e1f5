// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "base/rng.h"
#include "control/launch_order.h"
#include "control/world.h"
#include "lifecycle/invariants.h"

using berth::base::Rng;
using berth::model::JobId;
using berth::model::JobState;
using berth::ports::AttemptId;
using berth::ports::StopReason;
using berth::tests::saved_and_left;
using berth::tests::World;
using namespace std::chrono_literals;

TEST_CASE("after a crash the state is the same and every attempt is taken up") {
    World world;
    const JobId running = world.run("a", 2);
    const JobId pausing = world.run("a", 2);
    const JobId cancelling = world.run("b", 2);
    const auto starting = world.submit(World::job_of("b", 2));
    const auto queued = world.submit(World::job_of("b", 4));
    world.step();
    REQUIRE(world.pause(pausing));
    REQUIRE(world.cancel(cancelling));
    const std::string before = world.dump();
    world.clock.advance(10s);
    world.restart();
    CHECK(world.dump() == before);
    CHECK(world.launcher->recovered ==
          std::vector<AttemptId>{{running, 1}, {pausing, 1}, {cancelling, 1}, {starting->job, 1}});
    REQUIRE(world.launcher->stops.size() == 2);
    CHECK(world.launcher->stops[0].attempt == AttemptId{pausing, 1});
    CHECK(world.launcher->stops[0].grace == 50s);
    CHECK(world.launcher->stops[1].reason == StopReason::Cancel);
    world.lost(starting->job, berth::ports::kNeverStarted);
    CHECK(world.launcher->starts_of({starting->job, 1}) == 1);
    CHECK(world.launcher->starts.size() == 1);
    CHECK(world.state(queued->job) == JobState::Queued);
}

TEST_CASE("numbers of jobs are never used twice, not even of ended ones") {
    World world;
    const JobId first = world.run("a", 1);
    world.exits(first, {});
    world.restart();
    const auto next = world.submit(World::job_of("a", 1));
    world.step();
    CHECK(next->job == JobId{2});
}

TEST_CASE("a snapshot and the events behind it give the same state as all events") {
    World world;
    world.run("a", 2);
    REQUIRE(world.controller->write_snapshot());
    world.run("b", 2);
    const std::string before = world.dump();
    world.restart();
    CHECK(world.dump() == before);
    world.disk.snapshot.reset();
    world.restart();
    CHECK(world.dump() == before);
}

TEST_CASE("a log that begins anew gives higher numbers, and its attempts carry its name") {
    World world;
    const JobId before = world.run("a", 1);
    CHECK(world.launcher->starts.back().log == "begun");
    CHECK(world.job(before).incarnation == 1);
    world.store.begin({"second", JobId{40}});
    world.restart();
    const JobId after = world.run("a", 1);
    CHECK(after == JobId{41});
    CHECK(world.launcher->starts.back().log == "second");
    CHECK(world.job(after).incarnation == 2);
    // What began before is known by the name of then.
    const auto begun =
        berth::control::begun_attempts(world.controller->state(), world.controller->policy());
    REQUIRE(begun.size() == 2);
    CHECK(begun[0].log == "begun");
    CHECK(begun[1].log == "second");
    world.lost(before, "killed");
    CHECK(world.job(before).attempts == 2);
    CHECK(world.job(before).incarnation == 2);
    const std::string dump = world.dump();
    REQUIRE(world.controller->write_snapshot());
    world.restart();
    CHECK(world.dump() == dump);
    CHECK(berth::control::begun_attempts(world.controller->state(), world.controller->policy())[1]
              .log == "second");
    CHECK(world.count("log_begun") == 2);
}

TEST_CASE("a log with a gap or an impossible event is refused, not guessed at") {
    World world;
    world.run("a", 2);
    berth::tests::RecordingLauncher launcher;
    auto damaged = world.disk;
    SUBCASE("gap") { damaged.events.erase(damaged.events.begin() + 3); }
    SUBCASE("impossible") {
        damaged.events.back().body = berth::model::JobFinished{.job = JobId{9}, .detail = {}};
    }
    berth::tests::MemoryStore store(damaged);
    berth::control::Controller controller({}, {world.clock, store, launcher});
    CHECK_FALSE(controller.recover());
}

namespace {

// One random thing that can happen to a cluster.
void happen(World& world, Rng& rng) {
    std::vector<JobId> live;
    for (const auto& [id, job] : world.controller->state().jobs) live.push_back(id);
    const auto anyone = [&] { return live[rng.index(live.size())]; };
    const auto ignore = [](const berth::base::Status&) {};
    if (live.empty() || rng.chance(1, 3)) {
        auto job = World::job_of(rng.chance(1, 2) ? "a" : "b", static_cast<int>(rng.between(1, 4)));
        if (rng.chance(1, 2)) {
            job.spec.request.gpus = 1;
            job.spec.tasks_min = static_cast<int>(rng.between(1, 2));
            job.spec.tasks_max = static_cast<int>(rng.between(3, 8));
            job.spec.elastic = berth::model::Elastic::Restart;
        }
        world.submit(job);
        return;
    }
    const JobId job = anyone();
    const AttemptId attempt = world.attempt(job);
    switch (rng.between(0, 7)) {
        case 0: return world.controller->pause(job, "susan", {}, ignore);
        case 1: return world.controller->resume(job, "susan", ignore);
        case 2: return world.controller->cancel(job, "susan", {}, ignore);
        case 3: return world.launcher->listener().on_running(attempt);
        case 4: return world.launcher->listener().on_exit(attempt, saved_and_left());
        case 5: return world.launcher->listener().on_exit(attempt, {});
        case 6: return world.launcher->listener().on_lost(attempt, "killed");
        default: world.clock.advance(std::chrono::seconds(rng.between(1, 400)));
    }
}

// The launcher got every task of a running job, by ranks from 0 on.
void check_ranks(World& world) {
    for (const auto& order : world.launcher->starts) {
        for (int rank = 0; rank < std::ssize(order.tasks); ++rank) {
            CHECK(order.tasks[static_cast<std::size_t>(rank)].rank == rank);
        }
        const auto& live = world.controller->state().jobs;
        const auto job = live.find(order.attempt.job);
        if (job == live.end() || job->second.attempts != order.attempt.attempt) continue;
        const auto& record = job->second;
        // Who was asked to leave while it stopped for more tasks gives up those as well.
        const bool leaves = record.state == berth::model::JobState::Pausing;
        if (record.tasks.empty() || record.is_resizing() || leaves) continue;
        CHECK(order.tasks.size() == record.tasks.size());
    }
}

}  // namespace

TEST_CASE("whatever happens, invariants hold and recovery gives the same state") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        World world;
        Rng rng(seed);
        for (int i = 0; i < 60; ++i) {
            happen(world, rng);
            if (rng.chance(1, 2)) world.step();
            if (rng.chance(1, 20)) {
                world.step();
                const std::string before = world.dump();
                if (rng.chance(1, 3)) REQUIRE(world.controller->write_snapshot());
                world.restart();
                REQUIRE(world.dump() == before);
            }
        }
        world.step();
        const auto broken = berth::lifecycle::violations(world.controller->state().cluster);
        for (const std::string& sentence : broken) FAIL_CHECK(sentence);
        check_ranks(world);
        for (const auto& order : world.launcher->starts) {
            if (order.attempt.attempt == 1) CHECK(world.launcher->starts_of(order.attempt) == 1);
        }
    }
}
