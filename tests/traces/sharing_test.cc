// SPDX-License-Identifier: Apache-2.0
//
// Is sharing GPUs worth what Muri made of it, placement by profile what it promises, and a choice
// among models of GPU by measured speed what the documentation says? Muri's
// figures are those its authors published (Rivendile/Muri, simulator/draw_fig9-10.py and
// draw_fig11-13.py): Muri-L, which knows no durations, on 8 nodes of 8 GPUs; seconds; "_pr" are the
// same jobs, all handed in at once. Under the same model of speeds, but 60 s a restart where Muri
// counts 4 to 46.
#include <doctest/doctest.h>

#include <cmath>

#include "reference/named.h"
#include "simulation/replay/audit.h"
#include "simulation/report/metrics.h"
#include "traces/public_traces.h"

namespace berth::simulation {
namespace {

struct Muri {
    const char* trace;
    double avg_jct_s, makespan_s;
    std::int64_t gittins_avg_jct_s;  // ours
};

constexpr Muri kMuriL[] = {
    {"trace1", 1072010, 18593246, 1049964}, {"trace1_pr", 2141937, 16639500, 2092006},
    {"trace2", 2544642, 32826803, 2289475}, {"trace2_pr", 4152486, 31782579, 4031518},
    {"trace3", 88687, 8174135, 94130},      {"trace3_pr", 921095, 4403652, 795112},
    {"trace4", 429175, 10918239, 456741},   {"trace4_pr", 1488034, 10104722, 1601813},
};

Metrics simulate(const Experiment& experiment, std::string_view policy,
                 std::vector<reference::GpuMs> sizes = {}) {
    auto order = reference::order_named(
        policy, {.gpus = experiment.machines.gpus(), .sizes = std::move(sizes)});
    REQUIRE(order);
    const Replay replay = simulation::replay(experiment, **order);
    CHECK(audit(experiment, replay) == std::vector<std::string>{});
    return measure(experiment, replay);
}

SpeedTable measured(const std::vector<std::string>& models) {
    auto speeds = parse_speed_table(
        read_text(traces_folder() / "gavel/simulation_throughputs.json.gz"), "speeds", models);
    REQUIRE(speeds);
    return std::move(*speeds);
}

// What placement and models gain is asked of an order that does not go by what it has seen.
constexpr std::string_view kBlind = "tiresias";

bool are_there() {
    if (!traces_folder().empty()) return true;
    MESSAGE("skipped: no public traces here; BERTH_TRACES names their folder");
    return false;
}

}  // namespace

// Of the orders that remain beside the server's, gittins knows the least that tells short jobs
// from long: how sizes are distributed. Its averages are pinned, as they are.
TEST_CASE("shared GPUs: all of Muri's traces end before Muri-L's; averages to the second") {
    if (!are_there()) return;
    for (const Muri& muri : kMuriL) {
        INFO(muri.trace);
        const Trace trace = read(traces_folder() / "muri" / (std::string(muri.trace) + ".csv.gz"));
        std::vector<reference::GpuMs> sizes;
        for (const TraceJob& job : trace) sizes.push_back(job.work.count() * job.gpus);
        const Metrics found = simulate({.trace = trace,
                                        .machines = {8, 8},
                                        .placement = Placement::Count,
                                        .packing = Packing::Muri},
                                       "gittins", sizes);
        CHECK(found.finished == found.jobs);
        CHECK(found.makespan_s <= muri.makespan_s);
        CHECK(std::llrint(found.avg_jct_s) == muri.gittins_avg_jct_s);
    }
}

TEST_CASE("placement by profile: as soon as all together, a fifth sooner than anywhere") {
    if (!are_there()) return;
    const auto speeds = measured({"v100"});
    const Trace trace = read(traces_folder() / "shockwave/220_jobs_100.csv", "shockwave");
    const auto average = [&](Placement placement) {
        const Experiment experiment{
            .trace = trace, .machines = {16, 4}, .placement = placement, .speeds = &speeds};
        return simulate(experiment, kBlind).avg_jct_s;
    };
    const double by_profile = average(Placement::Profile);
    CHECK(by_profile <= 0.8 * average(Placement::Count));
    CHECK(by_profile <= 1.01 * average(Placement::Nodes));
}

TEST_CASE("GPUs of several models: jobs that change places end a fifth sooner than on any model") {
    if (!are_there()) return;
    const SpeedTable speeds = measured({"v100", "p100", "k80"});
    const auto average = [&](const char* file, const Machines& machines, Placement placement,
                             ModelChoice::Rule rule) {
        const Trace trace = read(traces_folder() / "shockwave" / file, "shockwave");
        const Experiment experiment{.trace = trace,
                                    .machines = machines,
                                    .placement = placement,
                                    .speeds = &speeds,
                                    .models = {rule}};
        return simulate(experiment, kBlind).avg_jct_s;
    };
    const Machines of_64({{6, 4, "v100"}, {5, 4, "p100"}, {5, 4, "k80"}});
    const Machines of_256({{22, 4, "v100"}, {21, 4, "p100"}, {21, 4, "k80"}});
    for (const Placement placement : {Placement::Count, Placement::Nodes}) {
        using Rule = ModelChoice::Rule;
        CHECK(average("220_jobs_100.csv", of_64, placement, Rule::Swap) <=
              0.8 * average("220_jobs_100.csv", of_64, placement, Rule::Any));
        CHECK(average("900_jobs_100.csv", of_256, placement, Rule::Swap) <=
              0.8 * average("900_jobs_100.csv", of_256, placement, Rule::Any));
    }
}

}  // namespace berth::simulation
