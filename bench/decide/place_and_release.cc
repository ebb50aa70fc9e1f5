// SPDX-License-Identifier: Apache-2.0
//
// One task of 1 to 8 GPUs leaves a cluster that is 90 % full and is placed again, best fit: the
// search, the change of every index, and both the way out of the line and back into it.
#include <algorithm>
#include <bit>

#include "base/rng.h"
#include "bench/decide/measure.h"
#include "bench/decide/world.h"
#include "scheduling/place/place.h"

namespace berth::bench {
namespace {

constexpr int kBatch = 512;

// Fills the nodes in order of arrival until nine tenths of the GPUs are taken.
std::vector<model::JobId> fill(World& world, const model::Policy& policy) {
    base::Rng dice(7);
    std::vector<model::JobId> running;
    const std::int64_t wanted = std::int64_t{world.nodes} * kGpusPerNode * 9 / 10;
    const auto view = scheduling::view_pool(world.state.cluster, policy, kNow, {0});
    for (std::int64_t taken = 0; taken < wanted;) {
        const int gpus = static_cast<int>(dice.between(1, kGpusPerNode));
        const model::JobId id = world.submit(world.spec("team", gpus));
        const auto places =
            scheduling::place(view, world.state.cluster.job(id), 1, cluster::View::Idle);
        if (!places) break;
        world.state.cluster.place(id, {0}, *places);
        running.push_back(id);
        taken += gpus;
    }
    return running;
}

void place_and_release(Run& run) {
    World world(run.nodes);
    world.add_project("team", kUnboundedQuota);
    cluster::Cluster& cluster = world.state.cluster;
    const std::vector<model::JobId> running = fill(world, run.policy);
    const auto view = scheduling::view_pool(cluster, run.policy, kNow, {0});
    base::Rng dice(3);
    std::vector<model::JobId> chosen(kBatch);
    const int rank = 0;
    run.measure(
        "place or release", 2 * kBatch,
        [&] {
            for (const model::JobId id : chosen) {
                cluster.vacate(id, std::span(&rank, 1));
                const auto places =
                    scheduling::place(view, cluster.job(id), 1, cluster::View::Idle);
                cluster.place(id, {0}, *places);
            }
        },
        [&] {
            std::ranges::generate(chosen, [&] { return running[dice.index(running.size())]; });
        });
    run.measure("search alone", kBatch, [&] {
        for (const model::JobId id : chosen) {
            scheduling::place(view, cluster.job(id), 1, cluster::View::Idle);
        }
    });
}

}  // namespace

void add_place_and_release(std::map<std::string, Scenario>& scenarios) {
    scenarios["place-and-release"] = place_and_release;
}

}  // namespace berth::bench
