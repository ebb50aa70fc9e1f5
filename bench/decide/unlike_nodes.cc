// SPDX-License-Identifier: Apache-2.0
//
// On most clusters no two nodes say the same: each has a hostname of its own, and some KiB of
// memory more or less than the next. From a description to the plan, for equal nodes and for such.
#include "bench/decide/measure.h"
#include "bench/decide/world.h"
#include "lifecycle/describe.h"
#include "scheduling/decide.h"

namespace berth::bench {
namespace {

constexpr int kJobs = 20;

model::Description described(int nodes, bool are_equal) {
    model::Description description;
    description.projects.emplace_back().name = "team";
    description.projects.back().rights.quota = base::gpus(nodes * kGpusPerNode);
    for (int i = 0; i < nodes; ++i) {
        model::Node node;
        node.name = "node" + std::to_string(i);
        node.gpus = kGpusPerNode;
        node.cpu = base::MilliCpu{128'000};
        node.memory = base::Bytes{2'000'000'000'000 + (are_equal ? 0 : i * 4096)};
        node.labels = {{"zone", "a"}, {"hostname", are_equal ? "node" : node.name}};
        description.nodes.push_back(std::move(node));
    }
    for (int i = 0; i < kJobs; ++i) {
        model::JobDescription job;
        job.spec = World(1).spec("team", kGpusPerNode, 4);
        job.spec.name = "job" + std::to_string(i);
        description.jobs.push_back(std::move(job));
    }
    return description;
}

void unlike_nodes(Run& run) {
    for (const bool are_equal : {true, false}) {
        const model::Description description = described(run.nodes, are_equal);
        std::size_t kinds = 0;
        const std::string nodes = are_equal ? "equal nodes" : "nodes that differ";
        run.measure("plan of " + nodes, 1, [&] {
            auto state = lifecycle::from_description(description);
            run.expect(state.has_value(), "the description is sound");
            scheduling::decide(state->cluster, run.policy, kNow);
            kinds = state->cluster.kinds().size();
        });
        run.expect(kinds == 1, "nodes differ in what no job asks about");
    }
}

}  // namespace

void add_unlike_nodes(std::map<std::string, Scenario>& scenarios) {
    scenarios["unlike-nodes"] = unlike_nodes;
}

}  // namespace berth::bench
