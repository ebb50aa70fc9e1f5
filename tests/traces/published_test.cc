// SPDX-License-Identifier: Apache-2.0
//
// Are the figures of the released Tiresias simulator met to the last digit? They were measured with
// its unmodified code (SymbioticLab/Tiresias, simulator/run_sim.py, --scheme=count) on the four
// Philly-derived traces of Muri (Rivendile/Muri, simulator/trace-data) and 8 nodes of 8 GPUs.
// Seconds, halves rounded to even; queue: JCT without the work. And does finish-fair do what
// Shockwave did on its own trace?
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "reference/named.h"
#include "simulation/replay/audit.h"
#include "simulation/report/metrics.h"
#include "traces/public_traces.h"

namespace berth::simulation {
namespace {

struct Published {
    const char* trace;
    const char* policy;
    // average, median, p95, p99 and longest JCT, makespan, average queue, pauses
    std::array<std::int64_t, 8> figures;
};

constexpr Published kPublished[] = {
    {"trace3", "fifo", {991167, 1143149, 1478461, 1687438, 1788115, 8171961, 944302, 0}},
    {"trace3", "fjf", {480105, 376568, 1129485, 3476864, 4149594, 8171961, 433240, 0}},
    {"trace3", "sjf", {408106, 43180, 3049433, 5018619, 5132663, 8171961, 361241, 126}},
    {"trace3", "srtf", {180116, 3586, 765499, 4237411, 5560089, 8171961, 133251, 1037}},
    {"trace3", "srsf", {172684, 3586, 585736, 3514620, 6656553, 8171961, 125819, 749}},
    {"trace3",
     "tiresias-released",
     {312870, 9356, 1841994, 4709811, 5009405, 8171961, 266005, 1303}},
    {"trace1", "fifo", {10313081, 11425456, 13859821, 13939814, 14765850, 23805342, 10062629, 0}},
    {"trace1", "fjf", {5488128, 2059867, 12598326, 14272617, 15070951, 23051336, 5237676, 0}},
    {"trace1", "sjf", {4149371, 363590, 12920374, 14535082, 15310138, 23314801, 3898919, 141}},
    {"trace1", "srtf", {1333917, 14392, 10634735, 15887771, 23391122, 25776881, 1083465, 2525}},
    {"trace1", "srsf", {952245, 14392, 6855921, 15078444, 23220498, 25662723, 701794, 2615}},
    {"trace1",
     "tiresias-released",
     {3048140, 287150, 12388496, 14354249, 15191471, 23193817, 2797689, 3927}},
    {"trace4", "fifo", {3812774, 4997263, 6065863, 6085727, 6986574, 12110093, 3693438, 0}},
    {"trace4", "fjf", {3014987, 3617176, 5313271, 8417797, 9470039, 12822996, 2895651, 0}},
    {"trace4", "sjf", {1688508, 1231419, 4853348, 8453967, 9503126, 12847914, 1569172, 226}},
    {"trace4", "srtf", {559568, 4118, 4752985, 7596826, 12410651, 14641060, 440232, 2644}},
    {"trace4", "srsf", {468581, 4118, 2488767, 7233115, 12403454, 14633863, 349245, 2422}},
    {"trace4",
     "tiresias-released",
     {1268901, 19301, 4856226, 8432073, 9482479, 12823417, 1149565, 4266}},
    {"trace2", "fifo", {22273926, 18428216, 43492537, 43616180, 43707493, 52066845, 22173940, 0}},
    {"trace2", "fjf", {10933862, 5893960, 36272302, 37937024, 42391264, 46743008, 10833875, 0}},
    {"trace2", "srtf", {2563881, 8746, 18874465, 32376776, 43828772, 48219025, 2463894, 8639}},
    {"trace2", "srsf", {2147185, 9203, 17060664, 30488575, 43193198, 47528316, 2047198, 9612}},
    {"trace2",
     "tiresias-released",
     {6925667, 110648, 33166709, 37072188, 42888065, 47223183, 6825681, 17379}},
};

Metrics simulate(const Trace& trace, std::string_view policy, Machines machines = {8, 8}) {
    const Experiment experiment{trace, machines, Placement::Count, Duration{}};
    auto order = reference::order_named(policy, {.gpus = machines.gpus(), .sizes = {}});
    REQUIRE(order);
    const Replay replay = simulation::replay(experiment, **order);
    CHECK(audit(experiment, replay) == std::vector<std::string>{});
    return measure(experiment, replay);
}

}  // namespace

TEST_CASE("fifo, fjf, sjf, SRTF, SRSF and released Tiresias: equal to the last digit") {
    const std::filesystem::path folder = traces_folder();
    if (folder.empty()) {
        MESSAGE("skipped: no public traces here; BERTH_TRACES names their folder");
        return;
    }
    for (const Published& known : kPublished) {
        INFO(known.trace << " " << known.policy);
        const Trace trace = read(folder / "muri" / (std::string(known.trace) + ".csv.gz"), "muri");
        const Metrics found = simulate(trace, known.policy);
        CHECK(found.finished == trace.size());
        const std::array<std::int64_t, 8> figures{
            std::llrint(found.avg_jct_s),   std::llrint(found.median_jct_s),
            std::llrint(found.p95_jct_s),   std::llrint(found.p99_jct_s),
            std::llrint(found.max_jct_s),   std::llrint(found.makespan_s),
            std::llrint(found.avg_queue_s), found.pauses};
        for (std::size_t at = 0; at < figures.size(); ++at) {
            CHECK_MESSAGE(figures[at] == known.figures[at], "figure " << at);
        }
    }
}

TEST_CASE("finish-fair: Shockwave's average, makespan and fairness, all at once") {
    const std::filesystem::path folder = traces_folder();
    if (folder.empty()) return;
    // Of its released results for 120 jobs on 32 GPUs (uw-mad-dash/shockwave,
    // scheduler/reproduce/pickles/tacc_32gpus).
    const Trace trace = read(folder / "shockwave/120_jobs_100.csv", "shockwave");
    const Metrics found = simulate(trace, "finish-fair", {8, 4});
    CHECK(found.finished == 120);
    CHECK(found.avg_jct_s <= 9958);
    CHECK(found.makespan_s <= 24197);
    CHECK(found.static_rho_max <= 1.78);
    CHECK(found.static_unfair_share <= 0.05);
    // By the demand that each job met it is no worse either.
    CHECK(found.rho_max <= 1.78);
}

}  // namespace berth::simulation
