// SPDX-License-Identifier: Apache-2.0
//
// What does a map of all GPUs cost? "looked at" is done on the thread that decides, once a second
// while a person looks; the rest on another one. Jobs of 1 to 64 GPUs on all nodes, each with its
// own level of activity; every GPU measured.
#include "api/map/columns.h"
#include "api/map/gzip.h"
#include "base/rng.h"
#include "bench/decide/measure.h"
#include "bench/decide/world.h"

namespace berth::bench {
namespace {

constexpr int kProjects = 20;

void fill(World& world, base::Rng& rng) {
    for (int i = 0; i < kProjects; ++i) world.add_project("p" + std::to_string(i), kUnboundedQuota);
    for (int node = 0; node < world.nodes;) {
        const std::string project = "p" + std::to_string(rng.between(0, kProjects - 1));
        if (rng.chance(1, 2)) {  // a node that several jobs have
            for (int gpu = 0; gpu < kGpusPerNode; gpu += 2) {
                const auto job = world.submit(world.spec(project, 2));
                world.run_on(job, node, gpu, 2, node);
            }
            ++node;
            continue;
        }
        for (auto left = rng.between(1, 8); left > 0 && node < world.nodes; --left, ++node) {
            world.run_on(world.submit(world.spec(project, kGpusPerNode)), node, 0, kGpusPerNode,
                         node);
        }
    }
}

std::vector<ports::GpuReading> readings_of(const World& world, base::Rng& rng) {
    std::vector<ports::GpuReading> readings;
    for (int node = 0; node < world.nodes; ++node) {
        const auto level = static_cast<int>(rng.between(40, 95));
        for (int gpu = 0; gpu < kGpusPerNode; ++gpu) {
            ports::GpuReading reading;
            reading.node = "node" + std::to_string(node);
            reading.index = gpu;
            reading.utilization_percent = level + static_cast<int>(rng.between(0, 4));
            reading.memory_used = base::Bytes{rng.between(0, 4) << 30};
            readings.push_back(std::move(reading));
        }
    }
    return readings;
}

void gpu_map(Run& run) {
    World world(run.nodes);
    base::Rng rng(1);
    fill(world, rng);
    const std::vector<ports::GpuReading> readings = readings_of(world, rng);
    const auto topology = api::topology_of(world.state.cluster);
    api::MapScene scene;
    api::Activity activity;
    std::string bytes;
    std::string packed;
    run.measure("all GPUs looked at", 1,
                [&] { scene = api::scene_of(world.state, topology, kNow); });
    run.measure("their readings heard, columns written", 1, [&] {
        activity.hear(readings, topology, scene.map.first, scene.map.gpus.size(), kNow);
        bytes = api::map_columns(scene, activity);
    });
    run.measure("columns packed", 1, [&] { packed = api::gzipped(bytes); });
    run.measure("nodes written, when they change", 1,
                [&] { api::topology_of(world.state.cluster); });
    run.print_number("columns", "bytes", std::ssize(bytes));
    run.print_number("columns, packed", "bytes", std::ssize(packed));
    run.print_number("nodes, packed", "bytes", std::ssize(api::gzipped(topology->json)));
    run.expect(std::ssize(scene.map.gpus) == run.nodes * kGpusPerNode, "every GPU is on the map");
}

}  // namespace

void add_gpu_map(std::map<std::string, Scenario>& scenarios) { scenarios["gpu-map"] = gpu_map; }

}  // namespace berth::bench
