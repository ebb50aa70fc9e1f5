// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/node_kinds.h"

#include <doctest/doctest.h>

#include "cluster/cluster.h"
#include "model/limits.h"

using namespace berth;
using berth::base::NodeId;
using berth::cluster::Cluster;

namespace {

constexpr int kNodes = 100;

model::Node node(int i) {
    model::Node node;
    node.name = "n" + std::to_string(i);
    node.gpus = 8;
    node.cpu = base::MilliCpu{64'000 + i};
    node.memory = base::Bytes{1'000'000 + i};
    node.labels = {{"host", node.name}, {"zone", i % 2 == 0 ? "a" : "b"}};
    return node;
}

Cluster unlike_nodes() {
    Cluster cluster;
    for (int i = 0; i < kNodes; ++i) cluster.set_node(node(i));
    model::Project project;
    project.name = "p";
    cluster.set_project(project);
    return cluster;
}

void ask(Cluster& cluster, std::int64_t id, model::Labels labels) {
    model::JobSpec spec;
    spec.name = "j" + std::to_string(id);
    spec.project = "p";
    spec.node_labels = std::move(labels);
    cluster.add_job({id}, spec, base::at_ms(id));
}

std::vector<int> allowed(const Cluster& cluster, std::int64_t job) {
    std::vector<int> found;
    for (int i = 0; i < kNodes; ++i) {
        const auto kind = cluster.nodes()[static_cast<std::size_t>(i)].kind;
        if (cluster.allows(cluster.job({job}).shape, kind)) found.push_back(i);
    }
    return found;
}

}  // namespace

TEST_CASE("nodes that differ in what no job asks about are of one kind") {
    Cluster cluster = unlike_nodes();
    CHECK(cluster.kinds().size() == 1);
    for (int i = 0; i < kNodes; ++i) {
        CHECK(cluster.description({static_cast<NodeId::Rep>(i)}) == node(i));
    }
}

TEST_CASE("a wish parts those that have it from the others, once") {
    Cluster cluster = unlike_nodes();
    ask(cluster, 1, {{"host", "n7"}});
    CHECK(cluster.kinds().size() == 2);
    CHECK(allowed(cluster, 1) == std::vector{7});
    ask(cluster, 2, {{"zone", "b"}});
    CHECK(cluster.kinds().size() == 3);  // n7 is in zone b
    ask(cluster, 3, {{"zone", "b"}, {"host", "n8"}});
    CHECK(cluster.kinds().size() == 4);
    CHECK(allowed(cluster, 1) == std::vector{7});
    CHECK(allowed(cluster, 2).size() == kNodes / 2);
    CHECK(allowed(cluster, 3).empty());
}

TEST_CASE("a node that comes or changes is of the kind that says what it says") {
    Cluster cluster = unlike_nodes();
    ask(cluster, 1, {{"host", "n7"}});
    model::Node other = node(8);
    other.labels["host"] = "n7";
    cluster.set_node(other);
    CHECK(cluster.kinds().size() == 2);
    CHECK(allowed(cluster, 1) == std::vector{7, 8});
    other.gpu_model = "H100";
    cluster.set_node(other);
    CHECK(cluster.kinds().size() == 3);
    CHECK(allowed(cluster, 1) == std::vector{7, 8});
    // Its first node is another one now; those that come later are judged by what it was.
    for (int i = 0; i < kNodes; ++i) {
        model::Node unlabelled = node(i);
        unlabelled.labels.clear();
        cluster.set_node(unlabelled);
    }
    ask(cluster, 2, {{"zone", "a"}});
    CHECK(allowed(cluster, 2).empty());
    cluster.set_node(node(0));
    CHECK(allowed(cluster, 2) == std::vector{0});
    CHECK(allowed(cluster, 1).empty());
}

TEST_CASE("pools count the nodes of a kind that was parted") {
    Cluster cluster = unlike_nodes();
    cluster.set_pool({model::kDefaultPool, {}, {{"H100", 2000}}, {}});
    ask(cluster, 1, {{"zone", "b"}});
    const cluster::PoolState& pool = cluster.pool({0});
    CHECK(pool.nodes_of_kind == std::vector<std::int32_t>{kNodes / 2, kNodes / 2});
    CHECK(pool.weights.size() == 2);
    for (int i = 0; i < kNodes; ++i) cluster.set_node(node(i));
    CHECK(pool.nodes_of_kind == std::vector<std::int32_t>{kNodes / 2, kNodes / 2});
}

TEST_CASE("there is room for a node or a wish as long as there are kinds left") {
    cluster::NodeKinds kinds;
    model::Node node;
    for (std::size_t i = 0; i < model::kNodeKindsMax; ++i) {
        node.gpu_memory = base::Bytes{static_cast<std::int64_t>(i)};
        REQUIRE(kinds.has_room_for(node));
        CHECK(kinds.kind_of(node, {}) == i);
    }
    CHECK(kinds.has_room_for(node));
    const std::vector<model::NodeTerm> terms = model::terms_of({{"zone", "b"}}, {});
    CHECK_FALSE(kinds.has_room_for(terms, 1));
    CHECK(kinds.has_room_for(std::vector<model::NodeTerm>{}, 1));
    node.gpu_memory = base::Bytes{-1};
    CHECK_FALSE(kinds.has_room_for(node));
}
