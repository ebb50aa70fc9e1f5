// SPDX-License-Identifier: Apache-2.0
//
// Eight one-GPU jobs for each node arrive at an empty cluster: one decision starts them all.
#include "bench/decide/measure.h"
#include "bench/decide/world.h"
#include "scheduling/decide.h"

namespace berth::bench {
namespace {

void fill_empty_cluster(Run& run) {
    World world(run.nodes);
    const int jobs = run.nodes * kGpusPerNode;
    world.add_project("team", jobs);
    for (int i = 0; i < jobs; ++i) world.submit(world.spec("team", 1), i);
    const model::Plan plan = scheduling::decide(world.state.cluster, run.policy, kNow);
    run.expect(std::ssize(plan.starts) == jobs, "every job starts");
    run.measure("decision", 1, [&] { scheduling::decide(world.state.cluster, run.policy, kNow); });
}

}  // namespace

void add_fill(std::map<std::string, Scenario>& scenarios) {
    scenarios["fill"] = fill_empty_cluster;
}

}  // namespace berth::bench
