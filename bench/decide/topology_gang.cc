// SPDX-License-Identifier: Apache-2.0
//
// A gang of 512 tasks that take a node each prefers to stand in one rack of 16 nodes. It has to go
// outwards level by level: blocks of 8 racks are too small, a zone of 4 blocks just holds it, and
// is filled rack by rack. Clusters of fewer nodes get a gang as large as they are.
#include <algorithm>

#include "bench/decide/measure.h"
#include "bench/decide/world.h"
#include "scheduling/decide.h"

namespace berth::bench {
namespace {

constexpr int kTasks = 512;
constexpr int kRack = 16;
constexpr int kBlock = 8 * kRack;
constexpr int kZone = 4 * kBlock;

void set_topology(World& world) {
    for (int i = 0; i < world.nodes; ++i) {
        model::Node node = world.state.cluster.description({static_cast<model::NodeId::Rep>(i)});
        node.topology = {{"zone", std::to_string(i / kZone)},
                         {"block", std::to_string(i % kZone / kBlock)},
                         {"rack", std::to_string(i % kBlock / kRack)}};
        world.apply({}, model::NodeSet{std::move(node)});
    }
}

void topology_gang(Run& run) {
    World world(run.nodes);
    set_topology(world);
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

// The owner takes back 100 whole nodes of one block from one-GPU jobs: every block is priced.
void topology_reclaim(Run& run) {
    constexpr int kOwned = 100;
    World world(run.nodes);
    set_topology(world);
    world.add_project("team", 0);
    world.add_project("owner", kOwned * kGpusPerNode);
    world.fill_with_one_gpu_jobs("team");
    model::JobSpec gang = world.spec("owner", kGpusPerNode, kOwned);
    gang.topology.required = "block";
    world.submit(gang);
    const model::Plan plan = scheduling::decide(world.state.cluster, run.policy, kNow);
    run.expect(plan.reservations.size() == 1 && plan.pauses.size() == kOwned * kGpusPerNode,
               "the gang is promised its nodes");
    run.measure("decision", 1, [&] { scheduling::decide(world.state.cluster, run.policy, kNow); });
}

}  // namespace

void add_topology_gang(std::map<std::string, Scenario>& scenarios) {
    scenarios["topology-gang"] = topology_gang;
    scenarios["topology-reclaim"] = topology_reclaim;
}

}  // namespace berth::bench
