// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "control/world.h"

using berth::base::Duration;
using berth::base::ErrorCode;
using berth::model::JobId;
using berth::tests::World;

namespace model = berth::model;

namespace {

model::NodeId node_of(const World& world, JobId job) { return world.job(job).tasks.front().node; }

}  // namespace

TEST_CASE("a setting holds from the next decision on, and the log says who set it") {
    World world;
    const JobId first = world.run("a", 1);
    CHECK(node_of(world, world.run("a", 1)) == node_of(world, first));
    REQUIRE(world.set_policy({{"train", "spread"}}));
    CHECK(node_of(world, world.run("a", 1)) != node_of(world, first));
    CHECK(world.count("policy_set") == 1);
    std::string actor;
    REQUIRE(world.store.read_events(0, 1000, [&](model::Event&& event) {
        if (std::holds_alternative<model::PolicySet>(event.body)) actor = event.actor;
    }));
    CHECK(actor == "admin");
}

TEST_CASE("settings survive a crash, from the log and from a snapshot") {
    for (const bool has_snapshot : {false, true}) {
        INFO(has_snapshot);
        World world;
        world.run("a", 2);
        REQUIRE(world.set_policy(
            {{"consolidation_max_jobs", "0"}, {"order", "age"}, {"min_runtime", "90m"}}));
        REQUIRE(world.set_policy({{"min_runtime", "1h"}, {"consolidation_max_jobs", {}}}));
        world.run("b", 2);
        const model::Policy wanted = world.controller->policy();
        CHECK(wanted.min_run == Duration{3'600'000});
        CHECK(wanted.order.by == model::JobOrder::Age);
        CHECK(wanted.moves_max == model::berth_policy().moves_max);
        if (has_snapshot) REQUIRE(world.controller->write_snapshot());
        const std::string before = world.dump();
        world.restart();
        CHECK(world.controller->policy() == wanted);
        CHECK(world.controller->started_policy() == model::berth_policy());
        CHECK(world.dump() == before);
        REQUIRE(world.set_policy({{"min_runtime", {}}, {"order", {}}}));
        CHECK(world.controller->policy() == model::berth_policy());
        world.restart();
        CHECK(world.controller->policy() == model::berth_policy());
    }
}

TEST_CASE("what is set goes before what the server is started with, what is not follows it") {
    World world(model::classic_policy());
    REQUIRE(world.set_policy({{"consolidation_max_jobs", "3"}}));
    model::Policy wanted = model::classic_policy();
    wanted.moves_max = 3;
    CHECK(world.controller->policy() == wanted);
    world.restart(model::berth_policy());
    wanted = model::berth_policy();
    wanted.moves_max = 3;
    CHECK(world.controller->policy() == wanted);
}

TEST_CASE("what changes nothing is no event") {
    World world;
    REQUIRE(world.set_policy({{"min_runtime", "90m"}}));
    CHECK(world.controller->state().policy.at("min_runtime") == "1h30m");
    REQUIRE(world.set_policy({{"min_runtime", "1h30m"}, {"reservation_hold", {}}}));
    REQUIRE(world.set_policy({}));
    CHECK(world.count("policy_set") == 1);
    // Said, it holds whatever the server is started with later.
    REQUIRE(world.set_policy({{"reservation_hold", "30s"}}));
    CHECK(world.count("policy_set") == 2);
}

TEST_CASE("one setting that cannot be refuses them all") {
    World world;
    const auto bad =
        world.set_policy({{"reservation_hold", "1m"}, {"consolidation_max_jobs", "-1"}});
    REQUIRE_FALSE(bad.has_value());
    CHECK(bad.error().code == ErrorCode::Invalid);
    const auto unknown = world.set_policy({{"reservation_hold", "1m"}, {"move", "1"}});
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().code == ErrorCode::NotFound);
    CHECK_FALSE(world.set_policy({{"move", {}}}));
    CHECK(world.controller->policy() == model::berth_policy());
    CHECK(world.count("policy_set") == 0);
}

TEST_CASE("of two names of one setting the newer one holds") {
    World world;
    REQUIRE(world.set_policy({{"consolidation_max_jobs", "9"}, {"moves", "8"}}));
    CHECK(world.controller->state().policy ==
          model::PolicyChanges{{"consolidation_max_jobs", "9"}});
    CHECK(world.controller->policy().moves_max == 9);
}

TEST_CASE("a setting that is gone is refused, and passed over in the log") {
    World world;
    const auto gone = world.set_policy({{"reservation_hold", "1m"}, {"sticky_plans", "no"}});
    REQUIRE_FALSE(gone.has_value());
    CHECK(gone.error().code == ErrorCode::NotFound);
    CHECK(world.count("policy_set") == 0);
    model::Event event{world.controller->state().sequence + 1, world.clock.now(), "admin",
                       model::PolicySet{{{"sticky_plans", "no"}, {"reservation_hold", "1m"}}, {}}};
    REQUIRE(world.store.commit({{std::move(event)}, {}, {}}));
    world.restart();
    CHECK(world.controller->state().policy == model::PolicyChanges{{"reservation_hold", "1m"}});
}

TEST_CASE("the grace of pauses from now on is the new one") {
    World world;
    REQUIRE(world.set_policy({{"grace", "7s"}}));
    const JobId job = world.run("a", 1);
    REQUIRE(world.pause(job));
    CHECK(world.job(job).last_pause->deadline == world.clock.now() + Duration{7'000});
    CHECK(world.launcher->stops.back().grace == Duration{7'000});
}
