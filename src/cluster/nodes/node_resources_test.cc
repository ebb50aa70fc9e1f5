// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/node_resources.h"

#include <doctest/doctest.h>

#include <span>

#include "cluster/cluster.h"

namespace berth::cluster {
namespace {

constexpr NodeId kFirst{0};

model::Node node_with(model::Resources resources) {
    model::Node node;
    node.name = "n";
    node.gpus = 4;
    node.resources = std::move(resources);
    return node;
}

Cluster cluster_with(model::Resources resources) {
    Cluster cluster;
    cluster.set_node(node_with(std::move(resources)));
    model::Project project;
    project.name = "p";
    cluster.set_project(project);
    return cluster;
}

ShapeId submit(Cluster& cluster, std::int64_t job, model::Resources asked) {
    model::JobSpec spec;
    spec.project = "p";
    spec.request.resources = std::move(asked);
    cluster.add_job({job}, spec, {});
    return cluster.job({job}).shape;
}

void start(Cluster& cluster, std::int64_t job, std::uint64_t gpus) {
    const TaskPlacement task = cluster.task_on(cluster.job({job}).shape, kFirst, gpus);
    cluster.place({job}, {0}, std::span(&task, 1));
}

TEST_CASE("nothing is counted before a node says a resource or a shape asks for one") {
    Cluster cluster = cluster_with({});
    const ShapeId plain = submit(cluster, 1, {});
    start(cluster, 1, 0b1);
    CHECK_FALSE(cluster.resources().is_used());
    CHECK(cluster.resources().fits(plain, kFirst, View::Idle));
    const ShapeId asks = submit(cluster, 2, {{"ib", 1}});
    CHECK(cluster.resources().is_used());
    CHECK_FALSE(cluster.resources().fits(asks, kFirst, View::Idle));
    CHECK(cluster.resources().fits(plain, kFirst, View::Idle));
}

TEST_CASE("a resource that is new has all tasks counted") {
    Cluster cluster = cluster_with({});
    const ShapeId shape = submit(cluster, 1, {{"ib", 2}});
    start(cluster, 1, 0b1);
    submit(cluster, 2, {{"ib", 2}});
    const TaskPlacement promised = cluster.task_on(shape, kFirst, 0b10);
    cluster.reserve({2}, {0}, std::span(&promised, 1), {}, {});
    cluster.set_node(node_with({{"ib", 5}, {"pods", 2}}));
    CHECK(cluster.resources().fitting(shape, kFirst, View::Idle, 9) == 0);
    CHECK(cluster.resources().on(kFirst, 0).used == 2);
    CHECK(cluster.resources().on(kFirst, 0).reserved == 2);
    cluster.remove_job({1});
    CHECK(cluster.resources().fitting(shape, kFirst, View::Idle, 9) == 1);
}

TEST_CASE("a trial takes back what it took of resources") {
    Cluster cluster = cluster_with({{"ib", 3}});
    const ShapeId shape = submit(cluster, 1, {{"ib", 2}});
    {
        const Trial trial(cluster);
        cluster.take(View::Coming, shape, cluster.task_on(shape, kFirst, 0b1));
        CHECK_FALSE(cluster.resources().fits(shape, kFirst, View::Coming));
        start(cluster, 1, 0b10);
        CHECK(cluster.resources().on(kFirst, 0).used == 2);
    }
    CHECK(cluster.resources().on(kFirst, 0).used == 0);
    CHECK(cluster.resources().fits(shape, kFirst, View::Coming));
}

TEST_CASE("what others use of them is described and taken off") {
    model::Node node = node_with({{"ib", 3}, {"pods", 10}});
    node.others.resources = {{"pods", 4}};
    Cluster cluster = cluster_with({});
    cluster.set_node(node);
    CHECK(cluster.description(kFirst) == node);
    const ShapeId shape = submit(cluster, 1, {});
    CHECK(cluster.resources().fitting(shape, kFirst, View::Idle, 99) == 6);
    cluster.set_others(kFirst, {});
    CHECK(cluster.resources().fitting(shape, kFirst, View::Idle, 99) == 10);
}

TEST_CASE("there is room for eight names") {
    model::Resources seven;
    for (char name = 'a'; name < 'h'; ++name) seven[std::string(1, name)] = 1;
    const Cluster cluster = cluster_with(seven);
    CHECK(cluster.resources().has_room_for({{"a", 1}, {"x", 1}}));
    CHECK_FALSE(cluster.resources().has_room_for({{"x", 1}, {"y", 1}}));
}

}  // namespace
}  // namespace berth::cluster
