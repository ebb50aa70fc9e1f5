// SPDX-License-Identifier: Apache-2.0
//
// Is virtual time spent as the model says where jobs share GPUs, or lose speed when spread? Small
// traces worked out by hand, then random ones, each checked by the audit.
#include "simulation/replay/share.h"

#include <doctest/doctest.h>

#include "base/rng.h"
#include "reference/named.h"
#include "simulation/replay/audit.h"
#include "simulation/report/metrics.h"

namespace berth::simulation {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Profile kHalfIdle{.sm_percent = 50, .memory_percent = 40};

TraceJob job(int submitted_s, Duration work, std::int32_t gpus = 1,
             const Profile& profile = kHalfIdle) {
    TraceJob one;
    one.submitted = base::at_ms(submitted_s * 1000);
    one.work = work;
    one.gpus = gpus;
    one.profile = profile;
    return one;
}

TraceJob named(std::string name, std::int32_t gpus, Duration work = minutes(10)) {
    TraceJob one = job(0, work, gpus);
    one.name = std::move(name);
    return one;
}

struct SharePlay {
    Trace trace;
    Machines machines;
    Packing packing = Packing::Pairs;
    Placement placement = Placement::Count;
    Duration restart_cost{};
    const SpeedTable* speeds = nullptr;
    Replay replay{};

    Experiment experiment() const {
        return {trace, machines, placement, restart_cost, packing, speeds};
    }

    SharePlay& under(std::string_view policy) {
        auto order = reference::order_named(policy, {.gpus = machines.gpus(), .sizes = {}});
        REQUIRE(order);
        replay = simulation::replay(experiment(), **order);
        CHECK(audit(experiment(), replay) == std::vector<std::string>{});
        return *this;
    }

    // Seconds.
    std::vector<std::int64_t> ends() const {
        std::vector<std::int64_t> all;
        for (const JobRecord& one : replay.jobs) all.push_back(base::to_ms(*one.end) / 1000);
        return all;
    }
};

using Ends = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("two half-idle jobs of an hour share one GPU in 1 h 20") {
    SharePlay play{{job(0, hours(1)), job(0, hours(1))}, {1, 1}};
    CHECK(play.under("fjf").ends() == Ends{4800, 4800});
    play.packing = Packing::None;
    CHECK(play.under("fjf").ends() == Ends{3600, 7200});
}

TEST_CASE("120 half-idle jobs all run at once on 64 GPUs, and end within 1 h 20, not 2 h") {
    SharePlay play{Trace(120, job(0, hours(1))), {8, 8}};
    play.under("fjf");
    // Eight are alone; when they end after an hour, eight pairs part, 900 s before their end, which
    // are 1,200 s as a pair; then sixteen, and at last all.
    CHECK(measure(play.experiment(), play.replay).makespan_s == 4781.25);
    CHECK(measure(play.experiment(), play.replay).avg_queue_s == 0);
    play.packing = Packing::None;
    CHECK(measure(play.experiment(), play.under("fjf").replay).makespan_s == 7200);
}

TEST_CASE("no job shares while GPUs idle") {
    SharePlay play{{job(0, hours(1)), job(0, hours(1))}, {1, 2}};
    CHECK(play.under("fjf").ends() == Ends{3600, 3600});
}

TEST_CASE("who is left alone is fast again") {
    SharePlay play{{job(0, hours(1)), job(0, minutes(20))}, {1, 1}};
    // 20 minutes at three quarters are 1,600 s, in which the other does 1,200 of its 3,600.
    CHECK(play.under("fjf").ends() == Ends{4000, 1600});
    CHECK(play.replay.jobs[0].pauses == 0);
}

TEST_CASE("who shared and gets GPUs of its own pays a restart") {
    SharePlay play{{job(0, minutes(10)), job(0, hours(1)), job(0, hours(1))}, {1, 2}};
    play.restart_cost = seconds(60);
    play.under("fjf");
    // First two share and one is alone; when the first ends, no job has to share.
    CHECK(play.ends() == Ends{800, 3800, 3600});
    CHECK(play.replay.jobs[0].held == seconds(800));
}

TEST_CASE("only jobs of as many GPUs share") {
    SharePlay play{{job(0, hours(1), 2), job(0, hours(1), 1)}, {1, 2}};
    CHECK(play.under("fjf").ends() == Ends{3600, 7200});
}

TEST_CASE("a job before them takes the GPUs of two that share, both go on later") {
    SharePlay play{{job(0, hours(10)), job(0, hours(10)), job(600, minutes(10), 1, Profile{})},
                   {1, 1}};
    play.under("srsf");
    CHECK(play.replay.jobs[2].end == base::at_ms(1'200'000));
    CHECK(play.replay.jobs[0].pauses == 1);
    CHECK(play.replay.jobs[1].pauses == 1);
    // 600 s at three quarters before, the rest after.
    CHECK(play.ends()[0] == 1200 + (36'000 - 450) * 4 / 3);
}

TEST_CASE("orders without pauses pause no job, and fifo lets no job overtake") {
    // The second fits beside no other and has to wait; the third would overtake it.
    const Profile busy{.sm_percent = 100, .memory_percent = 40};
    SharePlay play{{job(0, hours(1), 2), job(1, hours(1), 2, busy), job(2, hours(1), 2)}, {1, 2}};
    CHECK(play.under("fjf").ends() == Ends{4799, 8401, 4801});
    CHECK(play.replay.jobs[0].pauses + play.replay.jobs[2].pauses == 0);
    CHECK(play.under("fifo").ends() == Ends{3600, 7200, 10'800});
}

TEST_CASE("by profile only who loses speed when spread stands together") {
    SpeedTable table;
    table.on_models[0][{"skewed", 4}].spread = 0.25;
    table.on_models[0][{"even", 2}].spread = 1;
    table.on_models[0][{"even", 4}].spread = 0.95;
    SharePlay play{{named("even", 2), named("even", 2), named("even", 2),
                    named("even", 4, hours(1)), named("skewed", 4, minutes(15))},
                   {3, 4},
                   Packing::None};
    play.speeds = &table;
    play.placement = Placement::Profile;
    // The even one of four takes what two nodes have left; the skewed one waits for a whole node.
    play.under("fjf");
    CHECK(play.replay.jobs[3].first_start == base::at_ms(0));
    CHECK(play.ends()[4] == 600 + 900);
    play.placement = Placement::Nodes;
    play.under("fjf");
    CHECK(play.replay.jobs[4].first_start == base::at_ms(600'000));
}

TEST_CASE("a spread job is as slow as it was measured") {
    SpeedTable table;
    table.on_models[0][{"skewed", 2}].spread = 0.5;
    SharePlay play{{named("x", 3, hours(1)), named("skewed", 2, hours(1))}, {2, 4}, Packing::None};
    play.speeds = &table;
    CHECK(play.under("fjf").ends() == Ends{3600, 7200});
    play.placement = Placement::Profile;
    CHECK(play.under("fjf").ends() == Ends{3600, 3600});
}

TEST_CASE("random traces end, and the audit holds, however jobs share and stand") {
    SpeedTable table;
    table.on_models[0][{"b", 2}].spread = 0.5;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        base::Rng rng(seed);
        SharePlay play{{}, {static_cast<std::int32_t>(rng.between(1, 4)), 4}};
        play.packing = rng.chance(1, 2) ? Packing::Pairs : Packing::Muri;
        play.placement = static_cast<Placement>(rng.between(0, 2));
        play.restart_cost = seconds(rng.between(0, 90));
        play.speeds = rng.chance(1, 2) ? &table : nullptr;
        const auto stage = [&] { return static_cast<double>(rng.between(0, 400)); };
        for (int at = 0, left = 60; left > 0; --left) {
            at += static_cast<int>(rng.between(0, 2000));
            Profile profile{.input_ms = stage(), .gpu_ms = stage(), .network_ms = stage()};
            profile.iteration_ms = profile.input_ms + profile.gpu_ms + profile.network_ms + 1;
            if (rng.chance(1, 2)) {
                profile = {.sm_percent = static_cast<std::int32_t>(rng.between(10, 90)),
                           .memory_percent = static_cast<std::int32_t>(rng.between(10, 90))};
            }
            const auto gpus = static_cast<std::int32_t>(rng.between(1, play.machines.gpus()));
            play.trace.push_back(job(at, seconds(rng.between(1, 20'000)), gpus, profile));
            play.trace.back().name = rng.chance(1, 2) ? "a" : "b";
        }
        for (const reference::NamedOrder& known : reference::order_names()) {
            INFO(seed << " " << known.name);
            play.under(known.name);
            CHECK(measure(play.experiment(), play.replay).finished == play.trace.size());
        }
    }
}

TEST_CASE("the audit finds three on one GPU, and who shares only some") {
    SharePlay sound{{job(0, hours(1), 2), job(0, hours(1), 2)}, {1, 2}};
    sound.under("fjf");
    const auto complaint = [&](const auto& spoil) {
        Replay spoiled = sound.replay;
        spoil(spoiled);
        const auto complaints = audit(sound.experiment(), spoiled);
        return complaints.empty() ? "" : complaints.front();
    };
    CHECK(complaint([](Replay& one) { std::swap(one.gpus[2], one.gpus[3]); }) ==
          "job 1: it shares GPU 1 with one who holds others");
    CHECK(complaint([](Replay& one) { one.intervals.push_back(one.intervals[0]); }) ==
          "job 0: GPU 0 is not free");
    CHECK(complaint([](Replay& one) { one.intervals[0].starts = false; }) ==
          "job 0: it goes on without a start");
    sound.packing = Packing::None;
    CHECK(complaint([](Replay&) {}) == "job 1: GPU 0 is not free");
}

}  // namespace berth::simulation
