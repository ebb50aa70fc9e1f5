// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "control/world.h"

using berth::base::Duration;
using berth::base::ErrorCode;
using berth::model::JobId;
using berth::tests::World;

namespace base = berth::base;
namespace cluster = berth::cluster;
namespace model = berth::model;
namespace ports = berth::ports;

namespace {

const cluster::Cluster& of(const World& world) { return world.controller->state().cluster; }

std::vector<std::string> top_projects(const World& world) {
    std::vector<std::string> names;
    for (const base::ProjectId child : of(world).projects()[cluster::kRoot.index()].children) {
        names.push_back(of(world).projects()[child.index()].project.name);
    }
    return names;
}

}  // namespace

TEST_CASE("a project without work is removed, and stays so after a crash") {
    for (const bool has_snapshot : {false, true}) {
        INFO(has_snapshot);
        World world;
        const JobId job = world.run("a", 2);
        world.exits(job, ports::AttemptExit{.exit_code = 0, .detail = {}});
        const JobId stays = world.run("b", 2);
        REQUIRE(world.remove_project("a"));
        CHECK_FALSE(of(world).find_project("a").is_valid());
        CHECK(top_projects(world) == std::vector<std::string>{"b"});
        if (has_snapshot) REQUIRE(world.controller->write_snapshot());
        const std::string before = world.dump();
        world.restart();
        CHECK(world.dump() == before);
        CHECK(world.state(stays) == model::JobState::Running);
        // What has ended is in the history still, under the project's name.
        CHECK(world.disk.finished.at(job).spec.project == "a");
        const auto refused = world.submit(World::job_of("a", 1));
        world.step();
        REQUIRE(refused->refusal.has_value());
        CHECK(refused->refusal->error.code == ErrorCode::NotFound);
        // It can be made again, and is the youngest then.
        REQUIRE(world.set_project("a", 1));
        CHECK(top_projects(world) == std::vector<std::string>{"b", "a"});
        world.run("a", 1);
    }
}

TEST_CASE("a project with a job that has not ended is not removed, nor one with children") {
    World world;
    const JobId job = world.run("a", 2);
    const auto busy = world.remove_project("a");
    REQUIRE_FALSE(busy.has_value());
    CHECK(busy.error().code == ErrorCode::Conflict);
    CHECK(busy.error().message.find("has 1 job that has not ended, job 1;") != std::string::npos);
    REQUIRE(world.pause(job));
    CHECK_FALSE(world.remove_project("a"));
    REQUIRE(world.set_project("c", 1, "b"));
    const auto parent = world.remove_project("b");
    REQUIRE_FALSE(parent.has_value());
    CHECK(parent.error().message.find("has projects below it such as \"c\"") != std::string::npos);
    CHECK(world.remove_project("d").error().code == ErrorCode::NotFound);
    CHECK(world.count("project_removed") == 0);
    REQUIRE(world.remove_project("c"));
    REQUIRE(world.remove_project("b"));
    CHECK(top_projects(world) == std::vector<std::string>{"a"});
}

TEST_CASE("the GPUs that a removed project was guaranteed are free to lend, at once") {
    World world;
    const JobId first = world.run("a", 4);
    const JobId more = world.run("a", 4);
    const auto owner = world.submit(World::job_of("b", 4));
    world.step();
    CHECK(world.state(more) == model::JobState::Pausing);
    REQUIRE(world.cancel(owner->job));
    world.exits(more, berth::tests::saved_and_left());
    REQUIRE(world.remove_project("b"));
    CHECK(world.state(first) == model::JobState::Running);
    CHECK(world.state(more) == model::JobState::Starting);
}

TEST_CASE("what a removed project has had counts as its department's") {
    for (const bool has_snapshot : {false, true}) {
        World world;
        REQUIRE(world.set_project("c", 2, "b"));
        const JobId job = world.run("c", 2);
        world.clock.advance(Duration{7 * 3600 * 1000});  // into another period of past use
        world.exits(job, ports::AttemptExit{.exit_code = 0, .detail = {}});
        const auto had = [&](const char* name) {
            const auto id = of(world).find_project(name);
            const auto& uses = of(world).history().pools[0].past_use;
            return uses.size() <= id.index()
                       ? 0
                       : uses[id.index()].decayed(world.clock.now(), Duration{1'000'000'000});
        };
        const std::int64_t before = had("c");
        CHECK(before > 0);
        CHECK(had("b") == 0);
        REQUIRE(world.remove_project("c"));
        if (has_snapshot) REQUIRE(world.controller->write_snapshot());
        world.restart();
        CHECK(had("b") == before);
    }
}

TEST_CASE("of two changes that come together the second one starts from the first") {
    World world;
    REQUIRE(world.set_project("a", 1));
    std::vector<std::string> answers;
    const auto change = [&](auto set) {
        world.controller->change_project(
            "a",
            [set](model::Project project, bool is_new) {
                CHECK_FALSE(is_new);
                set(project);
                return base::Result<model::Project>(project);
            },
            "admin",
            [&](const base::Status& status) {
                answers.push_back(status ? "done" : status.error().message);
            });
    };
    change([](model::Project& project) { project.rights.quota = base::gpus(3); });
    change([](model::Project& project) { project.rights.weight = 2000; });
    // Asked in the turn: it sees what the others have done to it.
    world.controller->change_project(
        "a",
        [](const model::Project& project, bool) -> base::Result<model::Project> {
            if (project.rights.weight == 1000) return project;
            return base::fail(ErrorCode::Conflict, "not as it was");
        },
        "admin",
        [&](const base::Status& status) {
            answers.push_back(status ? "done" : status.error().message);
        });
    CHECK(answers.empty());
    world.step();
    CHECK(answers == std::vector<std::string>{"done", "done", "not as it was"});
    const model::Entitlement& rights =
        of(world).projects()[of(world).find_project("a").index()].project.rights;
    CHECK(rights.quota == base::gpus(3));
    CHECK(rights.weight == 2000);
}
