// SPDX-License-Identifier: Apache-2.0
//
// Jobs that have GPUs and do not use them: warned, then parked or ended, or kept.
#include <doctest/doctest.h>

#include "control/world.h"

using berth::base::Duration;
using berth::model::IdleAct;
using berth::model::JobId;
using berth::model::JobState;
using berth::ports::StopReason;
using berth::tests::World;
namespace model = berth::model;

namespace {

constexpr Duration kMinute{60'000};

struct Idling : World {
    Idling(const std::string& act, bool can_park = true) {
        launcher->way = {model::PauseRung::Checkpoint, "", "", can_park};
        REQUIRE(set_policy({{"idle_after", "30m"}, {"idle_warning", "10m"}, {"idle_act", act}}));
        job = run("a", 1);
    }
    // Time passes, in which its GPUs did nothing for `idle`.
    void idles(Duration idle, Duration passed = {}) {
        clock.advance(passed);
        controller->on_gpus_seen({{attempt(job), idle, {}, passed}});
        step();
    }
    const std::string& said() const { return launcher->notes.back().second; }

    JobId job;
};

}  // namespace

TEST_CASE("it is warned once, in its log and in the event log, and ended after the time said") {
    Idling world("end");
    world.idles(29 * kMinute);
    CHECK(world.launcher->notes.empty());
    world.idles(30 * kMinute, kMinute);
    world.idles(31 * kMinute, kMinute);
    CHECK(world.count("job_idle") == 1);
    REQUIRE(world.launcher->notes.size() == 1);
    CHECK(
        world.said() ==
        "its GPUs have done nothing for 30m; unless they are used it is ended in 10m; berth keep 1 "
        "keeps it");
    world.idles(40 * kMinute, 9 * kMinute);
    CHECK(world.state(world.job) == JobState::Cancelling);
    REQUIRE(world.launcher->stops.size() == 1);
    CHECK(world.launcher->stops[0].reason == StopReason::Cancel);
    world.exits(world.job, {.exit_code = 143, .signal = 15, .stop_asked = true, .detail = ""});
    CHECK(world.state(world.job) == JobState::Failed);
}

TEST_CASE("work that begins again takes the warning back") {
    Idling world("end");
    world.idles(30 * kMinute);
    world.idles({}, kMinute);
    CHECK(world.count("job_busy") == 1);
    CHECK_FALSE(world.World::job(world.job).idle);
    world.idles(9 * kMinute, 9 * kMinute);
    CHECK(world.state(world.job) == JobState::Running);
}

TEST_CASE("it is parked, and the order is repeated later where that failed") {
    Idling world("park");
    world.idles(30 * kMinute);
    world.idles(40 * kMinute, 10 * kMinute);
    REQUIRE(world.launcher->parks.size() == 1);
    world.idles(41 * kMinute, kMinute);
    CHECK(world.launcher->parks.size() == 1);
    world.idles(50 * kMinute, 9 * kMinute);
    CHECK(world.launcher->parks.size() == 2);
    world.frozen(world.job, {});
    CHECK(world.state(world.job) == JobState::Paused);
    CHECK(world.World::job(world.job).parked_since.has_value());
    CHECK_FALSE(world.World::job(world.job).idle);
}

TEST_CASE("a rule to park has calls to GPUs watched from the start, or says why it does not park") {
    Idling parks("park");
    REQUIRE(parks.launcher->starts.size() == 1);
    CHECK(parks.launcher->starts[0].park_after == 30 * kMinute);
    Idling warns("warn");
    CHECK_FALSE(warns.launcher->starts[0].park_after);
    Idling cannot("park", false);
    cannot.idles(30 * kMinute);
    CHECK(cannot.said() ==
          "its GPUs have done nothing for 30m; it is not parked: its calls to GPUs were "
          "not watched when it was started");
    cannot.idles(60 * kMinute, 30 * kMinute);
    CHECK(cannot.launcher->parks.empty());
}

TEST_CASE("who is kept is left alone until then, also by the next server") {
    Idling world("end");
    world.idles(30 * kMinute);
    const model::JobKept kept{world.job, world.clock.now() + 60 * kMinute};
    world.controller->record(kept, "susan", [](const auto& status) { CHECK(status); });
    world.step();
    CHECK_FALSE(world.World::job(world.job).idle);
    for (const bool has_snapshot : {false, true}) {
        if (has_snapshot) REQUIRE(world.controller->write_snapshot());
        world.restart();
        world.idles(50 * kMinute, 20 * kMinute);
        CHECK(world.state(world.job) == JobState::Running);
        CHECK_FALSE(world.World::job(world.job).idle);
    }
    world.idles(90 * kMinute, 30 * kMinute);
    CHECK(world.World::job(world.job).idle->acts_at == world.clock.now() + 10 * kMinute);
}

TEST_CASE("a server that begins does not end who it has not seen idle for long") {
    Idling world("end");
    world.idles(30 * kMinute);
    world.restart();
    world.idles(kMinute, 60 * kMinute);
    CHECK(world.state(world.job) == JobState::Running);
    CHECK_FALSE(world.World::job(world.job).idle);
    world.idles(30 * kMinute, 29 * kMinute);
    CHECK(world.World::job(world.job).idle->acts_at == world.clock.now() + 10 * kMinute);
    world.idles(40 * kMinute, 10 * kMinute);
    CHECK(world.state(world.job) == JobState::Cancelling);
}

TEST_CASE("a rule that gives more time takes the warning back") {
    Idling world("end");
    world.idles(30 * kMinute);
    REQUIRE(world.set_policy({{"idle_after", "1h"}}));
    world.idles(40 * kMinute, 10 * kMinute);
    CHECK(world.state(world.job) == JobState::Running);
    CHECK_FALSE(world.World::job(world.job).idle);
}

TEST_CASE("what an idle job had is idle time in the ledger, not lost work") {
    Idling world("end");
    world.idles(30 * kMinute, 30 * kMinute);
    world.idles(40 * kMinute, 10 * kMinute);
    world.exits(world.job, {.exit_code = 143, .signal = 15, .stop_asked = true, .detail = ""});
    const auto& ended = world.disk.finished.at(world.job);
    CHECK(ended.milli_gpu_ms.allocated_idle == 40 * kMinute.count() * 1000);
    CHECK(ended.milli_gpu_ms.lost_to_failure == 0);
}

TEST_CASE("what was seen of its GPUs is in the log when they are not its any more") {
    Idling world("warn");
    const auto seen = [&](Duration busy, Duration measured) {
        world.clock.advance(measured);
        world.controller->on_gpus_seen({{world.attempt(world.job), {}, busy, measured}});
        world.step();
    };
    seen(Duration{5'000}, Duration{10'000});
    CHECK(world.count("job_used") == 0);
    seen(Duration{5'000}, Duration{30'000});
    world.clock.advance(Duration{20'000});
    world.exits(world.job, {});
    CHECK(world.count("job_used") == 1);
    const auto& times = world.disk.finished.at(world.job).milli_gpu_ms;
    CHECK(times.busy == 10'000'000);
    CHECK(times.allocated_idle == 30'000'000);
    CHECK(times.not_measured == 20'000'000);
}

TEST_CASE("what is not yet in the log is at most a quarter of what was seen, and ten minutes") {
    Idling world("warn");
    const auto in_the_log_after = [&](int minutes) {
        for (int minute = 0; minute < minutes; ++minute) {
            world.clock.advance(kMinute);
            world.controller->on_gpus_seen({{world.attempt(world.job), {}, kMinute, kMinute}});
            world.step();
        }
        return world.count("job_used");
    };
    CHECK(in_the_log_after(4) == 4);
    CHECK(in_the_log_after(56) <= 4 + 12);
    CHECK(in_the_log_after(23 * 60) <= 4 + 12 + 23 * 6);
    const auto& times = world.controller->state().ledger.times(world.job, world.clock.now());
    CHECK(times.busy >= (24 * 60 - 10) * kMinute.count() * 1'000);
}
