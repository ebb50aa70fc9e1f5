// SPDX-License-Identifier: Apache-2.0
//
// Decisions about a full cluster: what is lent comes back, or the answer is no. Except where it
// says otherwise all GPUs run one-GPU jobs of project "guest". decide() leaves the cluster as it
// was, so each is repeated on the same state.
#include "bench/decide/measure.h"
#include "bench/decide/world.h"
#include "scheduling/decide.h"

namespace berth::bench {
namespace {

std::int64_t gpus_of(const Run& run) { return std::int64_t{run.nodes} * kGpusPerNode; }

model::Plan decide(Run& run, World& world) {
    return scheduling::decide(world.state.cluster, run.policy, kNow);
}

void measure_decision(Run& run, World& world) {
    run.measure("decision", 1, [&] { decide(run, world); });
}

World full_world(const Run& run, std::int64_t guest_quota, std::int64_t owner_quota) {
    World world(run.nodes);
    world.add_project("guest", guest_quota);
    world.add_project("owner", owner_quota);
    world.fill_with_one_gpu_jobs("guest");
    return world;
}

// A gang of N/2 tasks with 8 GPUs each, N nodes: the guest has no quota, the owner all of it.
void reclaim_gang(Run& run) {
    World world = full_world(run, 0, gpus_of(run));
    const int tasks = run.nodes / 2;
    world.submit(world.spec("owner", kGpusPerNode, tasks), kNowMs);
    const model::Plan plan = decide(run, world);
    run.expect(plan.reservations.size() == 1 &&
                   std::ssize(plan.pauses) == std::ptrdiff_t{tasks} * kGpusPerNode,
               "one reservation and a pause for every GPU of it");
    measure_decision(run, world);
}

void reclaim_one(Run& run) {
    World world = full_world(run, 0, gpus_of(run));
    world.submit(world.spec("owner", 1), kNowMs);
    const model::Plan plan = decide(run, world);
    run.expect(plan.pauses.size() == 1, "one pause");
    measure_decision(run, world);
}

// As many one-GPU jobs wait as run, and every one of them may take a GPU back.
void reclaim_many(Run& run) {
    World world = full_world(run, 0, gpus_of(run));
    for (std::int64_t i = 0; i < gpus_of(run); ++i) world.submit(world.spec("owner", 1), kNowMs);
    const model::Plan plan = decide(run, world);
    run.expect(std::ssize(plan.pauses) == gpus_of(run), "every running job pauses");
    measure_decision(run, world);
}

// The full cycle with as many jobs waiting as running. Half of the cluster belongs to each
// project, both have work for more than that, and the guest holds all: half is taken back.
void full_cycle(Run& run) {
    World world = full_world(run, gpus_of(run) / 2, gpus_of(run) / 2);
    for (std::int64_t i = 0; i < gpus_of(run); ++i) world.submit(world.spec("owner", 1), kNowMs);
    const model::Plan plan = decide(run, world);
    run.expect(std::ssize(plan.pauses) == gpus_of(run) / 2, "half of the running jobs pause");
    measure_decision(run, world);
}

// The same, but those who wait belong to the project that holds everything, and are on its last
// tier: nothing to do.
void full_cycle_at_rest(Run& run) {
    World world = full_world(run, gpus_of(run) / 2, gpus_of(run) / 2);
    for (std::int64_t i = 0; i < gpus_of(run); ++i) {
        world.has_run_before(world.submit(world.spec("guest", 1), kNowMs));
    }
    run.expect(decide(run, world).is_empty(), "an empty plan");
    measure_decision(run, world);
}

// A gang of 10 x 8 GPUs within its quota, but only 79 of the 80 are held above the other's quota.
void one_gpu_short(Run& run) {
    run.policy.scale_overcommitted = false;  // the quotas promise that one GPU twice
    World world = full_world(run, gpus_of(run) - 79, 80);
    world.submit(world.spec("owner", kGpusPerNode, 10), kNowMs);
    run.expect(decide(run, world).is_empty(), "the answer no");
    measure_decision(run, world);
}

// The same gang, all of the quota its own, but on every node one job cannot be paused: enough
// GPUs, no whole node. Every node has to be looked at to be sure.
void one_gpu_short_on_each_node(Run& run) {
    World world(run.nodes);
    world.add_project("guest", run.nodes);
    world.add_project("owner", gpus_of(run) - run.nodes);
    for (int node = 0; node < run.nodes; ++node) {
        for (int gpu = 0; gpu < kGpusPerNode; ++gpu) {
            model::JobSpec spec = world.spec("guest", 1);
            spec.preemptible = gpu != 0;
            world.run_on(world.submit(spec), node, gpu, 1, 0);
        }
    }
    world.submit(world.spec("owner", kGpusPerNode, 10), kNowMs);
    run.expect(decide(run, world).is_empty(), "the answer no");
    measure_decision(run, world);
}

// One GPU idles and is kept for a gang; a thousand jobs of different shapes would fit it, and each
// of them is asked whether it may have it.
void backfill(Run& run) {
    constexpr int kWaiting = 1000;
    World world(run.nodes);
    world.add_project("guest", kUnboundedQuota);
    for (int node = 0; node < run.nodes; ++node) {
        for (int gpu = node == 0 ? 1 : 0; gpu < kGpusPerNode; ++gpu) {
            model::JobSpec spec = world.spec("guest", 1);
            spec.preemptible =
                false;  // a backfill reservation holds nothing against who could be paused for it
            world.run_on(world.submit(spec), node, gpu, 1, 0);
        }
    }
    world.has_run_before(world.submit(world.spec("guest", kGpusPerNode), 1));
    for (int i = 0; i < kWaiting; ++i) {
        model::JobSpec spec = world.spec("guest", 1);
        spec.request.memory = model::Bytes{i + 1};
        spec.preemptible = false;
        world.has_run_before(world.submit(spec, kNowMs));
    }
    const model::Plan plan = decide(run, world);
    run.expect(plan.is_empty() && plan.backfill.size() == 1,
               "one backfill reservation, and no job delays it");
    run.measure("test of one job", kWaiting, [&] { decide(run, world); });
}

}  // namespace

void add_preemptions(std::map<std::string, Scenario>& scenarios) {
    scenarios["reclaim-gang"] = reclaim_gang;
    scenarios["reclaim-one"] = reclaim_one;
    scenarios["reclaim-many"] = reclaim_many;
    scenarios["full-cycle"] = full_cycle;
    scenarios["full-cycle-at-rest"] = full_cycle_at_rest;
    scenarios["one-gpu-short"] = one_gpu_short;
    scenarios["backfill"] = backfill;
    scenarios["one-gpu-short-on-each-node"] = one_gpu_short_on_each_node;
}

}  // namespace berth::bench
