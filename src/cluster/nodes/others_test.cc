// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/others.h"

#include <doctest/doctest.h>

#include <bit>

#include "cluster/cluster.h"

namespace berth::cluster {
namespace {

Cluster one_node(int gpus) {
    Cluster cluster;
    model::Node node;
    node.name = "n";
    node.gpus = gpus;
    cluster.set_node(node);
    model::Project project;
    project.name = "p";
    cluster.set_project(project);
    return cluster;
}

constexpr NodeId kNode{0};

void run(Cluster& cluster, std::int64_t job, std::uint64_t gpus) {
    model::JobSpec spec;
    spec.project = "p";
    spec.request.gpus = std::popcount(gpus);
    cluster.add_job({job}, spec, {});
    TaskPlacement task = cluster.task_on(cluster.job({job}).shape, kNode, gpus);
    cluster.place({job}, {0}, std::span(&task, 1));
}

std::uint64_t free_now(const Cluster& cluster) { return cluster.nodes()[0].whole[0]; }

TEST_CASE("the free GPUs of the highest index are others', and stay theirs") {
    Cluster cluster = one_node(4);
    run(cluster, 1, 0b1000);
    cluster.set_others(kNode, {{}, {}, 2, {}});
    CHECK(free_now(cluster) == 0b0001);
    cluster.remove_job({1});
    CHECK(free_now(cluster) == 0b1001);
    cluster.set_others(kNode, {{}, {}, 1, {}});
    CHECK(free_now(cluster) == 0b1011);
    CHECK(cluster.pool({0}).capacity == base::gpus(3));
}

TEST_CASE("no GPU is missing while another one of the node is free") {
    Cluster cluster = one_node(2);
    run(cluster, 1, 0b01);
    run(cluster, 2, 0b10);
    cluster.set_others(kNode, {{}, {}, 1, {}});
    CHECK(cluster.others().is_overfull(kNode));
    CHECK(cluster.own_gpus(kNode) == 1);
    const int rank = 0;
    cluster.release({1}, std::span(&rank, 1));
    CHECK_FALSE(cluster.others().is_overfull(kNode));
    CHECK(cluster.others().on(kNode).awaited == 0b01);
    cluster.vacate({1}, std::span(&rank, 1));
    CHECK(cluster.others().on(kNode) == Others{.taken = 0b01, .gpus = 1});
    CHECK(free_now(cluster) == 0);
    cluster.remove_job({2});
    CHECK(free_now(cluster) == 0b10);
}

TEST_CASE("a trial takes back what became theirs in it") {
    Cluster cluster = one_node(2);
    run(cluster, 1, 0b11);
    cluster.set_others(kNode, {{}, {}, 1, {}});
    const Others before = cluster.others().on(kNode);
    {
        const Trial trial(cluster);
        const int rank = 0;
        cluster.release({1}, std::span(&rank, 1));
        CHECK(cluster.others().on(kNode).awaited == 0b10);
    }
    CHECK(cluster.others().on(kNode) == before);
}

TEST_CASE("a GPU is awaited for no longer than they want it") {
    Cluster cluster = one_node(1);
    run(cluster, 1, 0b1);
    cluster.set_others(kNode, {{}, {}, 1, {}});
    const int rank = 0;
    cluster.release({1}, std::span(&rank, 1));
    CHECK(cluster.others().on(kNode).awaited == 0b1);
    cluster.set_others(kNode, {});
    CHECK(cluster.others().on(kNode) == Others{});
    CHECK(cluster.nodes()[0].whole[1] == 0b1);
}

TEST_CASE("what a log says that runs there is not in the way of others, nor they in its") {
    Cluster cluster = one_node(2);
    cluster.set_others(kNode, {{}, {}, 1, {}});
    run(cluster, 1, 0b10);
    CHECK(cluster.others().on(kNode) == Others{.taken = 0b01, .gpus = 1});
    run(cluster, 2, 0b01);
    CHECK(cluster.others().is_overfull(kNode));
}

TEST_CASE("CPU and memory of others are used") {
    Cluster cluster;
    model::Node node;
    node.name = "n";
    node.gpus = 2;
    node.cpu = base::MilliCpu{8000};
    node.others.cpu = {2000};
    cluster.set_node(node);
    CHECK(cluster.nodes()[0].cpu.free(View::Idle) == 6000);
    CHECK(cluster.description(kNode) == node);
    cluster.set_others(kNode, {{10'000}, {}, 0, {}});
    CHECK(cluster.nodes()[0].cpu.free(View::Idle) == -2000);
}

}  // namespace
}  // namespace berth::cluster
