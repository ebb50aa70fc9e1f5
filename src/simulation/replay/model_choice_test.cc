// SPDX-License-Identifier: Apache-2.0
//
// Who gets GPUs of which model? Small traces worked out by hand, then the choice among one model
// against hand_out.h, and random traces by every rule, each checked by the audit.
#include "simulation/replay/model_choice.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "reference/named.h"
#include "simulation/replay/audit.h"
#include "simulation/report/metrics.h"

namespace berth::simulation {
namespace {

using std::chrono::seconds;
using Rule = ModelChoice::Rule;

TraceJob job(std::string name, int submitted_s, int work_s, std::int32_t gpus) {
    TraceJob one;
    one.name = std::move(name);
    one.submitted = base::at_ms(submitted_s * 1000);
    one.work = seconds(work_s);
    one.gpus = gpus;
    return one;
}

// "even" is half as fast on the second model, "skewed" a tenth, "old" twice, "large" does not run.
SpeedTable table() {
    SpeedTable speeds;
    speeds.on_models.resize(2);
    const auto measured = [&](const char* name, double second) {
        speeds.on_models[0][{name, 1}] = {1, 0.5};
        speeds.on_models[1][{name, 1}] = {second, second / 4};
    };
    measured("even", 0.5);
    measured("skewed", 0.1);
    measured("old", 2);
    measured("large", 0);
    return speeds;
}

struct ModelPlay {
    Trace trace;
    Rule rule = Rule::Any;
    std::vector<NodesAlike> nodes{{1, 2, "new"}, {1, 2, "old"}};
    Placement placement = Placement::Count;
    Duration restart_cost{};
    std::int32_t gain_percent = 10;
    SpeedTable speeds = table();
    Machines machines{nodes};
    Replay replay{};

    Experiment experiment() const {
        return {.trace = trace,
                .machines = machines,
                .placement = placement,
                .restart_cost = restart_cost,
                .speeds = &speeds,
                .models = {rule, gain_percent}};
    }

    ModelPlay& under(std::string_view policy) {
        auto order =
            reference::order_named(policy, {.gpus = machines.models()[0].gpus(), .sizes = {}});
        REQUIRE(order);
        replay = simulation::replay(experiment(), **order);
        CHECK(audit(experiment(), replay) == std::vector<std::string>{});
        return *this;
    }

    // Seconds; -1 = never.
    std::vector<std::int64_t> ends() const {
        std::vector<std::int64_t> all;
        for (const JobRecord& one : replay.jobs) {
            all.push_back(one.end ? base::to_ms(*one.end) / 1000 : -1);
        }
        return all;
    }
};

using Ends = std::vector<std::int64_t>;

std::vector<TraceJob> random_trace(base::Rng& rng, const Machines& machines) {
    constexpr const char* kNames[] = {"even", "skewed", "old", "large", "?"};
    std::vector<TraceJob> trace;
    for (int at = 0, left = 60; left > 0; --left) {
        at += static_cast<int>(rng.between(0, 2000));
        trace.push_back(
            job(kNames[rng.between(0, 4)], at, static_cast<int>(rng.between(1, 20'000)),
                static_cast<std::int32_t>(rng.between(1, machines.models()[0].gpus()))));
    }
    return trace;
}

}  // namespace

TEST_CASE("any: where most GPUs are left, as fast as it is there") {
    ModelPlay play{{job("even", 0, 100, 1), job("skewed", 0, 100, 1), job("skewed", 0, 100, 1)}};
    CHECK(play.under("fjf").ends() == Ends{100, 1000, 100});
}

TEST_CASE("fastest: of the models with room that on which it is fastest") {
    ModelPlay play{{job("old", 0, 100, 2), job("skewed", 0, 100, 2), job("even", 1, 100, 1)}};
    play.rule = Rule::Fastest;
    CHECK(play.under("fjf").ends() == Ends{50, 100, 50 + 200});
}

TEST_CASE("a job stands on one model, and never where it does not run") {
    ModelPlay play{{job("even", 0, 100, 1), job("large", 0, 100, 2), job("even", 0, 100, 3)}};
    CHECK(play.under("fjf").ends() == Ends{100, 200, -1});
}

TEST_CASE("swap: two jobs change places where that gains enough, and both pay for a restart") {
    // The first takes the new GPUs, the second is left with old ones, a tenth as fast there.
    ModelPlay play{{job("even", 0, 1000, 2), job("skewed", 1, 100, 2)}, Rule::Swap};
    play.restart_cost = seconds(60);
    // The first has 999 s left at half speed, and the end of the second lets it move back.
    CHECK(play.under("fjf").ends() == Ends{101 + 60 + (999 - 20), 101});
    CHECK(play.replay.jobs[0].pauses == 2);
    // 1 + 0.5 against 1 + 0.1: a third more.
    play.gain_percent = 37;
    CHECK(play.under("fjf").replay.jobs[0].pauses == 0);
    play.rule = Rule::Fastest;
    CHECK(play.under("fjf").ends() == Ends{1000, 1001});
}

TEST_CASE("swap: who gains on GPUs that idle moves to them") {
    ModelPlay play{{job("even", 0, 100, 2), job("even", 0, 300, 2)}, Rule::Swap};
    play.restart_cost = seconds(60);
    // 50 s of the second are done when the first ends.
    CHECK(play.under("fjf").ends() == Ends{100, 100 + 60 + 250});
}

TEST_CASE("of one model it hands out what one pass over all in order of rank does") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        INFO(seed);
        base::Rng rng(seed);
        const auto nodes = static_cast<std::int32_t>(rng.between(1, 4));
        ModelPlay play{{}, Rule::Any, {{nodes, 4, "new"}}};
        play.placement = rng.chance(1, 2) ? Placement::Count : Placement::Nodes;
        play.restart_cost = seconds(rng.between(0, 90));
        play.speeds.on_models.resize(1);
        play.trace = random_trace(rng, play.machines);
        for (TraceJob& one : play.trace) one.name = "even";
        const Replay one_model = play.under("tiresias").replay;
        // With a second model on which nothing runs.
        play.machines = Machines({{nodes, 4, "new"}, {1, 1, "none"}});
        play.speeds.on_models.emplace_back();
        play.speeds.on_models[1][{"even", 1}] = {0, 0};
        const Replay two_models = play.under("tiresias").replay;
        CHECK(std::ranges::equal(one_model.jobs, two_models.jobs, {}, &JobRecord::end,
                                 &JobRecord::end));
        CHECK(std::ranges::equal(one_model.jobs, two_models.jobs, {}, &JobRecord::pauses,
                                 &JobRecord::pauses));
    }
}

TEST_CASE("random traces on two models end, and the audit holds, by every rule") {
    int swaps = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        base::Rng rng(seed);
        ModelPlay play;
        play.machines = Machines({{static_cast<std::int32_t>(rng.between(1, 4)), 4, "new"},
                                  {static_cast<std::int32_t>(rng.between(1, 4)), 2, "old"}});
        play.placement = static_cast<Placement>(rng.between(0, 2));
        play.restart_cost = seconds(rng.between(0, 90));
        play.gain_percent = static_cast<std::int32_t>(rng.between(0, 50));
        play.trace = random_trace(rng, play.machines);
        const char* policies[] = {"fifo",       "fjf", "srsf", "tiresias", "tiresias-released",
                                  "finish-fair"};
        const char* policy = policies[rng.between(0, 5)];
        std::int64_t pauses[3] = {};
        for (const Rule rule : {Rule::Any, Rule::Fastest, Rule::Swap}) {
            INFO(seed << " " << policy);
            play.rule = rule;
            play.under(policy);
            const Metrics metrics = measure(play.experiment(), play.replay);
            CHECK(metrics.finished == play.trace.size());
            pauses[static_cast<int>(rule)] = metrics.pauses;
        }
        swaps += pauses[2] > pauses[1] ? 1 : 0;
    }
    CHECK(swaps > 20);
}

TEST_CASE("the audit finds a job on two models, and one that is faster than its GPUs") {
    ModelPlay play{{job("even", 0, 100, 2), job("even", 0, 100, 2)}};
    play.under("fjf");
    REQUIRE(play.ends() == Ends{100, 200});
    Replay spoiled = play.replay;
    std::swap(spoiled.gpus[0], spoiled.gpus[2]);
    CHECK(audit(play.experiment(), spoiled).front() == "job 0: it stands on two models of GPU");
    spoiled = play.replay;
    std::swap_ranges(spoiled.gpus.begin(), spoiled.gpus.begin() + 2, spoiled.gpus.begin() + 2);
    CHECK(audit(play.experiment(), spoiled).front() ==
          "job 0: ended after 1m40s on GPUs for 1m40s of work");
}

}  // namespace berth::simulation
