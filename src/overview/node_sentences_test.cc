// SPDX-License-Identifier: Apache-2.0
#include "overview/node_sentences.h"

#include <doctest/doctest.h>

#include "overview/cluster_of_test.h"

using namespace berth;
using model::NodeHealth;
using overview::ClusterOfTest;

namespace {

std::string said(const ClusterOfTest& cluster) {
    std::string text;
    for (const auto& sentence : overview::node_sentences(cluster.state.cluster)) {
        text += (text.empty() ? "" : " ") + sentence.text;
    }
    return text;
}

}  // namespace

TEST_CASE("where all nodes are ready that is said, with their GPUs") {
    CHECK(said({}) == "All 2 nodes are ready, with 8 GPUs.");
}

TEST_CASE("nodes that take no work are named, those that are down first, and who is hit") {
    ClusterOfTest cluster;
    cluster.run("vision", 1, 0, 2, "ann");
    cluster.run("vision", 1, 2, 1, "bob");
    cluster.set_node("n1", NodeHealth::Drained);
    CHECK(said(cluster) == "n1 is drained: 4 of 8 GPUs take no new work. 2 jobs are still on it.");
    cluster.set_node("n0", NodeHealth::Down);
    CHECK(said(cluster) ==
          "n0 is down, n1 is drained: 8 of 8 GPUs take no new work. 2 jobs are still on them.");
}

TEST_CASE("more than three nodes are counted, and a name that reads as two is in quotes") {
    ClusterOfTest cluster;
    cluster.set_node("n 0", NodeHealth::Drained);
    cluster.set_node("n2", NodeHealth::Drained);
    CHECK(said(cluster) ==
          "\"n 0\" and n2 are drained: 8 of 16 GPUs take no new work. No job is on them.");
    cluster.set_node("n3", NodeHealth::Drained);
    cluster.set_node("n4", NodeHealth::Drained);
    CHECK(said(cluster) ==
          "4 nodes are drained: 16 of 24 GPUs take no new work. No job is on them.");
}
