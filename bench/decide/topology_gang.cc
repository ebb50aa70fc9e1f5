// SPDX-License-Identifier: Apache-2.0
//
// A gang of 512 tasks that take a node each prefers to stand in one rack of 16 nodes. It has to go
// outwards level by level: blocks of 8 racks are too small, a zone of 4 blocks just holds it, and
// is filled rack by rack. Clusters of fewer nodes get a gang as large as they are.
#include <algorithm>

#include "bench/decide/measure.h"
#include "bench/decide/world.h"
#include "scheduling/cycle.h"

namespace berth::bench {
namespace {

constexpr int kTasks = 512;
constexpr int kRack = 16;
constexpr int kBlock = 8 * kRack;
constexpr int kZone = 4 * kBlock;

void topology_gang(Run& run) {
    World world(run.nodes);
    for (int i = 0; i < run.nodes; ++i) {
        model::Node node = world.state.cluster.description({static_cast<model::NodeId::Rep>(i)});
        node.topology = {{"zone", std::to_string(i / kZone)},
                         {"block", std::to_string(i % kZone / kBlock)},
                         {"rack", std::to_string(i % kBlock / kRack)}};
        world.apply({}, model::NodeSet{std::move(node)});
    }
    const int tasks = std::min(kTasks, run.nodes);
    world.add_project("team", std::int64_t{tasks} * kGpusPerNode);
    model::JobSpec gang = world.spec("team", kGpusPerNode, tasks);
    gang.topology.preferred = "rack";
    world.submit(gang);
    const model::Plan plan = scheduling::decide(world.state.cluster, run.policy, kNow);
    run.expect(plan.starts.size() == 1 && std::ssize(plan.starts[0].tasks) == tasks,
               "the gang starts");
    run.measure("decision", 1, [&] { scheduling::decide(world.state.cluster, run.policy, kNow); });
}

}  // namespace

void add_topology_gang(std::map<std::string, Scenario>& scenarios) {
    scenarios["topology-gang"] = topology_gang;
}

}  // namespace berth::bench
