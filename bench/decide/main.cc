// SPDX-License-Identifier: Apache-2.0
//
// berth-bench-core SCENARIO PROFILE NODES [SAMPLES] prints one JSON line for each thing measured;
// without arguments it lists the scenarios. bench/run knows which sizes make a row of the table.
#include <cstdio>
#include <cstdlib>
#include <span>

#include "bench/decide/measure.h"

int main(int argc, char** argv) {
    namespace bench = berth::bench;
    std::map<std::string, bench::Scenario> scenarios;
    bench::add_place_and_release(scenarios);
    bench::add_preemptions(scenarios);
    bench::add_fill(scenarios);
    bench::add_foresight(scenarios);
    bench::add_steady_state(scenarios);
    bench::add_topology_gang(scenarios);
    bench::add_shared_gpus(scenarios);
    bench::add_memory(scenarios);
    bench::add_unlike_nodes(scenarios);
    bench::add_gpu_map(scenarios);

    const std::span arguments(argv, static_cast<std::size_t>(argc));
    if (arguments.size() < 4) {
        for (const auto& [name, scenario] : scenarios) std::printf("%s\n", name.c_str());
        return arguments.size() == 1 ? 0 : 2;
    }
    const auto found = scenarios.find(arguments[1]);
    const auto policy = berth::model::policy_named(arguments[2]);
    bench::Run run;
    run.nodes = std::atoi(arguments[3]);
    if (found == scenarios.end() || !policy || run.nodes < 1) {
        std::fprintf(stderr, "usage: berth-bench-core SCENARIO berth|classic NODES [SAMPLES]\n");
        return 2;
    }
    run.scenario = arguments[1];
    run.profile = arguments[2];
    run.policy = *policy;
    if (arguments.size() > 4) run.samples_max = std::atoi(arguments[4]);
    found->second(run);
}
