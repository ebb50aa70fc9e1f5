// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "control/world.h"

using berth::model::JobId;
using berth::model::JobState;
using berth::tests::World;

namespace {

using namespace berth;

void set(World& world, const model::Pool& pool) {
    world.controller->set_pool(pool, "admin", [](const base::Status& status) { REQUIRE(status); });
    world.step();
}

void set(World& world, const std::string& name, model::NodeHealth health) {
    model::Node node;
    node.name = name;
    node.gpus = 4;
    node.health = health;
    if (name == "n1") node.labels["cells"] = "a";
    world.controller->set_node(node, "admin", [](const base::Status& status) { REQUIRE(status); });
    world.step();
}

// Decisions that leave something to decide are made again a millisecond later.
void settle(World& world) {
    for (int i = 0; i < 4; ++i) {
        world.clock.advance(base::Duration{1000});
        world.step();
    }
}

std::string pool_of(const World& world, const std::string& node) {
    const auto& cluster = world.controller->state().cluster;
    return cluster.pool(cluster.nodes()[cluster.find_node(node).index()].pool).name;
}

}  // namespace

TEST_CASE("a failed node of a cell is replaced, and is a spare after a crash as before it") {
    World world;
    set(world, "n1", model::NodeHealth::Ready);
    set(world, {"cells", {{"cells", "a"}}, {}, "default"});
    settle(world);
    CHECK(pool_of(world, "n1") == "cells");
    set(world, "n1", model::NodeHealth::Down);
    settle(world);
    CHECK(pool_of(world, "n2") == "cells");
    CHECK(pool_of(world, "n1") == "default");
    CHECK(world.count("node_moved") == 2);

    const std::string before = world.dump();
    world.restart();
    CHECK(world.dump() == before);
    set(world, "n1", model::NodeHealth::Ready);
    settle(world);
    CHECK(pool_of(world, "n1") == "default");
    REQUIRE(world.controller->write_snapshot());
    const std::string later = world.dump();
    world.restart();
    CHECK(world.dump() == later);

    auto submission = World::job_of("a", 4);
    submission.spec.pools = {"cells"};
    const auto answer = world.submit(submission);
    settle(world);
    REQUIRE(answer->is_told);
    CHECK(world.state(answer->job) == JobState::Starting);
}

TEST_CASE("a node that works joins the pool its label names when its work has ended") {
    World world;
    const JobId job = world.run("a", 4);
    const auto place = world.job(job).tasks.front().node;
    const std::string node = world.controller->state().cluster.node_name(place);
    model::Node labelled = world.controller->state().cluster.description(place);
    labelled.labels["cells"] = "a";
    set(world, {"cells", {{"cells", "a"}}, {}, {}});
    world.controller->set_node(labelled, "admin",
                               [](const base::Status& status) { REQUIRE(status); });
    settle(world);
    CHECK(pool_of(world, node) == "default");
    world.exits(job, {});
    settle(world);
    CHECK(pool_of(world, node) == "cells");
    CHECK(world.count("node_moved") == 1);
}
