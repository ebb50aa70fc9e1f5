// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster.h"

#include <doctest/doctest.h>

using namespace berth;
using berth::base::MilliGpu;
using berth::cluster::Cluster;
using berth::cluster::Trial;
using berth::cluster::View;

namespace {

constexpr base::JobId kJob{1};
constexpr base::PoolId kPool{0};
constexpr base::NodeId kNode{0};

model::Node node_with(int gpus, std::int64_t gpu_memory) {
    model::Node node;
    node.name = "n0";
    node.gpus = gpus;
    node.gpu_memory = base::Bytes{gpu_memory};
    return node;
}

Cluster one_node(int gpus, std::int64_t gpu_memory = 0) {
    Cluster cluster;
    cluster.set_node(node_with(gpus, gpu_memory));
    model::Project project;
    project.name = "a";
    cluster.set_project(project);
    return cluster;
}

void add_job(Cluster& cluster, base::JobId id, int tasks) {
    model::JobSpec spec;
    spec.name = "j" + std::to_string(id.value);
    spec.project = "a";
    spec.tasks_min = spec.tasks_max = tasks;
    cluster.add_job(id, spec, base::at_ms(id.value));
}

model::TaskPlacement on_gpu(int task, int gpu) {
    return {task, kNode, std::uint64_t{1} << gpu, base::kWholeGpu, {}, {}};
}

model::TaskPlacement part_of_gpu(std::int64_t compute, std::int64_t memory) {
    model::TaskPlacement task = on_gpu(0, 0);
    task.share = MilliGpu{compute};
    task.gpu_memory = base::Bytes{memory};
    return task;
}

model::GpuPart part(std::int64_t compute, std::int64_t memory) {
    return {MilliGpu{compute}, base::Bytes{memory}};
}

MilliGpu total(const Cluster& cluster, View view) {
    return cluster.pool(kPool).free_total[static_cast<std::size_t>(view)];
}

const cluster::Usage& usage(const Cluster& cluster) {
    return cluster.claim(kPool, cluster.find_project("a")).usage;
}

}  // namespace

TEST_CASE(
    "compute and memory of a shared GPU are left apart, and as much as both is a free share") {
    Cluster cluster = one_node(1, 80'000);
    add_job(cluster, kJob, 1);
    add_job(cluster, {2}, 1);
    cluster.place(kJob, kPool, std::vector{part_of_gpu(200, 60'000)});
    CHECK(cluster.free_part(View::Idle, kNode, 0) == part(800, 20'000));
    CHECK(cluster.free(View::Idle, kNode, 0) == MilliGpu{250});
    CHECK(total(cluster, View::Idle) == MilliGpu{250});
    cluster.place({2}, kPool, std::vector{part_of_gpu(700, 10'000)});
    CHECK(cluster.free_part(View::Idle, kNode, 0) == part(100, 10'000));
    cluster.remove_job(kJob);
    cluster.remove_job({2});
    CHECK(cluster.free_part(View::Idle, kNode, 0) == part(1000, 80'000));
    CHECK(total(cluster, View::Idle) == base::gpus(1));
}

TEST_CASE(
    "memory that is being left is coming, not idle, and a hold takes it from what is coming") {
    Cluster cluster = one_node(1, 80'000);
    add_job(cluster, kJob, 1);
    add_job(cluster, {2}, 1);
    cluster.place(kJob, kPool, std::vector{part_of_gpu(200, 60'000)});
    const int rank = 0;
    cluster.release(kJob, std::span(&rank, 1));
    CHECK(cluster.free_part(View::Idle, kNode, 0) == part(800, 20'000));
    CHECK(cluster.free_part(View::Coming, kNode, 0) == part(1000, 80'000));
    cluster.reserve({2}, kPool, std::vector{part_of_gpu(300, 70'000)}, {}, {});
    CHECK(cluster.free_part(View::Idle, kNode, 0) == part(700, 10'000));
    CHECK(cluster.free_part(View::Coming, kNode, 0) == part(700, 10'000));
}

TEST_CASE("a trial that takes parts of a GPU leaves none of them behind") {
    Cluster cluster = one_node(1, 80'000);
    {
        const Trial trial(cluster);
        cluster.take(View::Idle, {}, part_of_gpu(500, 70'000));
        CHECK(cluster.free_part(View::Idle, kNode, 0) == part(500, 10'000));
    }
    CHECK(cluster.free_part(View::Idle, kNode, 0) == part(1000, 80'000));
}

TEST_CASE("a share whose record says nothing of memory takes as much of it") {
    Cluster cluster = one_node(1, 80'000);
    add_job(cluster, kJob, 1);
    cluster.place(kJob, kPool, std::vector{part_of_gpu(250, 0)});
    CHECK(cluster.free_part(View::Idle, kNode, 0) == part(750, 60'000));
}

TEST_CASE("a GPU that loses memory keeps who is there and has none left until it fits again") {
    Cluster cluster = one_node(1, 80'000);
    add_job(cluster, kJob, 1);
    cluster.place(kJob, kPool, std::vector{part_of_gpu(200, 60'000)});
    cluster.set_node(node_with(1, 40'000));
    CHECK(cluster.free_part(View::Idle, kNode, 0) == part(800, 0));
    const int rank = 0;
    cluster.release(kJob, std::span(&rank, 1));
    cluster.vacate(kJob, std::span(&rank, 1));
    CHECK(cluster.free_part(View::Idle, kNode, 0) == part(1000, 40'000));
}

TEST_CASE("a GPU being left is coming, not idle, and a hold takes it from what is coming") {
    Cluster cluster = one_node(2);
    add_job(cluster, kJob, 1);
    const std::vector<model::TaskPlacement> place{on_gpu(0, 0)};
    cluster.place(kJob, kPool, place);
    CHECK(total(cluster, View::Idle) == base::gpus(1));
    CHECK(total(cluster, View::Coming) == base::gpus(1));

    const int rank = 0;
    cluster.release(kJob, std::span(&rank, 1));
    CHECK(total(cluster, View::Idle) == base::gpus(1));
    CHECK(total(cluster, View::Coming) == base::gpus(2));

    add_job(cluster, {2}, 1);
    cluster.reserve({2}, kPool, std::vector{on_gpu(0, 0)}, {}, {});
    CHECK(total(cluster, View::Idle) == base::gpus(1));
    CHECK(total(cluster, View::Coming) == base::gpus(1));
    CHECK(cluster.unused(kNode, 0).compute == base::gpus(0));

    cluster.vacate(kJob, std::span(&rank, 1));
    CHECK(total(cluster, View::Idle) == base::gpus(1));
    CHECK(cluster.unused(kNode, 0).compute == base::gpus(1));
}

TEST_CASE("what a project holds and wants adds up on every level of the tree") {
    Cluster cluster = one_node(4);
    model::Project child;
    child.name = "a1";
    child.parent = "a";
    cluster.set_project(child);
    model::JobSpec spec;
    spec.name = "j";
    spec.project = "a1";
    spec.preemptible = false;
    spec.tasks_min = spec.tasks_max = 3;
    cluster.add_job(kJob, spec, {});
    CHECK(usage(cluster).pending == base::gpus(3));
    const std::vector<model::TaskPlacement> places{on_gpu(0, 0), on_gpu(1, 1), on_gpu(2, 2)};
    cluster.place(kJob, kPool, places);
    CHECK(usage(cluster).pending == MilliGpu{0});
    CHECK(usage(cluster).allocated == base::gpus(3));
    CHECK(usage(cluster).not_preemptible == base::gpus(3));
    CHECK(cluster.claim(kPool, cluster::kRoot).usage.allocated == base::gpus(3));
}

TEST_CASE("a trial takes back whatever was done in it") {
    Cluster cluster = one_node(4);
    add_job(cluster, kJob, 2);
    add_job(cluster, {2}, 1);
    const std::vector<model::TaskPlacement> places{on_gpu(0, 0), on_gpu(1, 1)};
    {
        const Trial outer(cluster);
        cluster.place(kJob, kPool, places);
        CHECK(usage(cluster).allocated == base::gpus(2));
        const int rank = 1;
        cluster.release(kJob, std::span(&rank, 1));
        cluster.reserve({2}, kPool, std::vector{on_gpu(0, 1)}, {}, {});
        cluster.drop_reservation({2});
        cluster.take(View::Coming, cluster.job(kJob).shape, on_gpu(0, 3));
        CHECK(total(cluster, View::Coming) == base::gpus(2));
    }
    CHECK(usage(cluster).allocated == MilliGpu{0});
    CHECK(usage(cluster).pending == base::gpus(3));
    CHECK(total(cluster, View::Idle) == base::gpus(4));
    CHECK(cluster.job(kJob).placed.empty());
    CHECK_FALSE(cluster.job(kJob).pool.is_valid());
    CHECK(cluster.claim(kPool, cluster.find_project("a")).queue.size() == 2);
}

TEST_CASE("a node that is not ready offers nothing and offers it again when it is back") {
    Cluster cluster = one_node(8);
    model::Node node = cluster.description(kNode);
    node.health = model::NodeHealth::Drained;
    cluster.set_node(node);
    CHECK(cluster.pool(kPool).capacity == MilliGpu{0});
    CHECK(total(cluster, View::Idle) == MilliGpu{0});
    node.health = model::NodeHealth::Ready;
    cluster.set_node(node);
    CHECK(total(cluster, View::Idle) == base::gpus(8));
    CHECK(cluster.pool(kPool).free[0].nodes_with(8).size() == 1);
}
