// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "control/world.h"

using berth::base::ErrorCode;
using berth::model::Cause;
using berth::model::JobId;
using berth::model::JobState;
using berth::model::Reason;
using berth::tests::World;

namespace {

// Of project "a", beside a quota of four GPUs.
void set_rights(World& world, const berth::model::Entitlement& rights) {
    berth::model::Project project;
    project.name = "a";
    project.rights = rights;
    project.rights.quota = berth::base::gpus(4);
    world.controller->set_project(project, "susan", [](const berth::base::Status&) {});
    world.step();
}

// Of a job of project "a" with one GPU, and CPU and memory in thousandths of a core and GiB.
std::optional<berth::model::Verdict> refusal_of(World& world, std::int64_t cpu, std::int64_t memory,
                                                bool preemptible = true) {
    auto submission = World::job_of("a", 1);
    submission.spec.request.cpu = berth::model::MilliCpu{cpu};
    submission.spec.request.memory = berth::model::Bytes{memory << 30};
    submission.spec.preemptible = preemptible;
    const auto answer = world.submit(submission);
    world.step();
    return answer->refusal ? answer->refusal->verdict : std::nullopt;
}

}  // namespace

TEST_CASE("nothing is acknowledged or started before it is on the disk") {
    World world;
    std::size_t events_at_start = 0;
    world.launcher->on_order = [&] { events_at_start = world.disk.events.size(); };
    const auto answer = world.submit(World::job_of("a", 2));
    CHECK_FALSE(answer->is_told);
    CHECK(world.disk.launches.empty());
    world.step();
    CHECK(answer->job == JobId{1});
    CHECK(world.disk.launches.contains(JobId{1}));
    CHECK(world.launcher->starts.size() == 1);
    CHECK(events_at_start == world.disk.events.size());
    CHECK(world.count("job_submitted") == 1);
    CHECK(world.count("job_starting") == 1);
}

TEST_CASE("many submissions share one step and keep their order") {
    World world;
    std::vector<std::shared_ptr<World::Answer>> answers;
    for (int i = 0; i < 20; ++i) answers.push_back(world.submit(World::job_of("a", 1)));
    world.step();
    for (int i = 0; i < 20; ++i) CHECK(answers[static_cast<std::size_t>(i)]->job == JobId{i + 1});
    CHECK(world.launcher->starts.size() == 8);
}

TEST_CASE("a failed commit refuses everybody, starts nothing and ends the controller") {
    World world;
    world.store.set_failing(true);
    const auto answer = world.submit(World::job_of("a", 1));
    world.step();
    REQUIRE(answer->refusal.has_value());
    CHECK(answer->refusal->error.code == ErrorCode::Unavailable);
    CHECK(world.launcher->starts.empty());
    CHECK(world.controller->has_failed());
    world.store.set_failing(false);
    world.submit(World::job_of("a", 1));
    world.step();
    CHECK(world.launcher->starts.empty());
    world.restart();
    CHECK(world.controller->state().jobs.empty());
}

TEST_CASE("a job that can never run is refused with its verdict and leaves no trace") {
    World world;
    const std::string before = world.dump();
    const auto answer = world.submit(World::job_of("a", 5));
    world.step();
    REQUIRE(answer->refusal.has_value());
    REQUIRE(answer->refusal->verdict.has_value());
    CHECK(answer->refusal->verdict->reason == Reason::NeverFits);
    CHECK(world.dump() == before);
    const auto next = world.submit(World::job_of("a", 4));
    world.step();
    CHECK(next->job == JobId{1});
}

TEST_CASE("work that cannot be paused is refused above its project's quota") {
    World world;
    auto submission = World::job_of("a", 4);
    submission.spec.preemptible = false;
    submission.spec.tasks_min = submission.spec.tasks_max = 2;
    const auto answer = world.submit(submission);
    world.step();
    REQUIRE(answer->refusal.has_value());
    REQUIRE(answer->refusal->verdict.has_value());
    CHECK(answer->refusal->verdict->reason == Reason::QuotaHard);
    REQUIRE(world.set_project("a", 8));
    const auto again = world.submit(submission);
    world.step();
    CHECK(again->job.is_valid());
}

TEST_CASE("GPUs of companions count in the quota that a job is refused by") {
    World world;
    world.may_be_unlike = true;
    world.restart();
    auto submission = World::job_of("a", 4);
    submission.spec.preemptible = false;
    submission.spec.companions = {{.name = "cache"}};
    submission.spec.companions[0].request.gpus = 1;
    REQUIRE(world.set_project("a", 4));
    const auto answer = world.submit(submission);
    world.step();
    REQUIRE(answer->refusal.has_value());
    REQUIRE(answer->refusal->verdict.has_value());
    CHECK(answer->refusal->verdict->reason == Reason::QuotaHard);
    CHECK(answer->refusal->verdict->asks == berth::base::gpus(5));
    CHECK(answer->refusal->verdict->bound == berth::base::gpus(4));
    REQUIRE(world.set_project("a", 5));
    const auto again = world.submit(submission);
    world.step();
    CHECK(again->job.is_valid());
}

TEST_CASE("an unknown project is an error without a verdict") {
    World world;
    const auto answer = world.submit(World::job_of("c", 1));
    world.step();
    REQUIRE(answer->refusal.has_value());
    CHECK(answer->refusal->error.code == ErrorCode::NotFound);
    CHECK_FALSE(answer->refusal->verdict.has_value());
}

TEST_CASE("the same key answers with the first job, in one step, later, ended and recovered") {
    World world;
    auto submission = World::job_of("a", 1);
    submission.key = "nightly";
    const auto first = world.submit(submission);
    const auto second = world.submit(submission);
    world.step();
    CHECK(first->job == JobId{1});
    CHECK(second->job == JobId{1});
    world.running(first->job);
    world.exits(first->job, {});
    CHECK(world.state(first->job) == JobState::Succeeded);
    world.restart();
    const auto third = world.submit(submission);
    world.step();
    CHECK(third->job == JobId{1});
    CHECK(world.count("job_submitted") == 1);
    submission.spec.request.gpus = 2;
    const auto other = world.submit(submission);
    world.step();
    REQUIRE(other->refusal.has_value());
    CHECK(other->refusal->error.code == ErrorCode::Conflict);
}

TEST_CASE("an outlook tells what would happen and changes nothing") {
    World world;
    world.run("b", 4);
    world.run("b", 4);
    CHECK_FALSE(world.controller->outlook(World::job_of("a", 1)).starts_now);
    world.clock.advance(std::chrono::hours(1));
    const std::string before = world.dump();
    const auto outlook = world.controller->outlook(World::job_of("a", 4));
    CHECK(outlook.can_run);
    CHECK_FALSE(outlook.pauses.empty());
    CHECK_FALSE(world.controller->outlook(World::job_of("a", 5)).can_run);
    CHECK(world.dump() == before);
}

TEST_CASE("waiting jobs have verdicts with their place in line") {
    World world;
    world.run("a", 4);
    world.run("b", 4);
    std::vector<std::shared_ptr<World::Answer>> waiting;
    for (int i = 0; i < 3; ++i) waiting.push_back(world.submit(World::job_of("a", 2)));
    world.step();
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        const auto verdict = world.controller->why(waiting[i]->job);
        REQUIRE(verdict.has_value());
        CHECK(verdict->job == waiting[i]->job);
        CHECK(verdict->position == static_cast<int>(i) + 1);
        CHECK(verdict->reason != Reason::NotYetEvaluated);
    }
    CHECK_FALSE(world.controller->why(JobId{1}).has_value());
}

TEST_CASE("jobs alike but for their preemption delay have each their own reason") {
    World world;
    world.run("a", 4);
    world.run("b", 4);
    auto larger = World::job_of("a", 4);
    larger.spec.tasks_min = larger.spec.tasks_max = 2;
    larger.spec.priority = 60;
    const auto above = world.submit(larger);
    larger.spec.preemption_delay = std::chrono::hours(1);
    const auto delayed = world.submit(larger);
    world.step();
    CHECK(world.controller->why(above->job)->cause == Cause::AboveFairShare);
    CHECK(world.controller->why(delayed->job)->cause == Cause::PreemptionDelay);
}

TEST_CASE("a key is remembered for a day, over restarts and snapshots") {
    World world;
    auto submission = World::job_of("a", 1);
    submission.key = "k";
    const auto first = world.submit(submission);
    world.step();
    world.clock.advance(berth::ports::kKeyKept);
    world.restart();
    const auto again = world.submit(submission);
    world.step();
    CHECK(again->job == first->job);
    world.clock.advance(berth::base::Duration{1});
    REQUIRE(world.controller->write_snapshot());
    const auto later = world.submit(submission);
    world.step();
    CHECK(later->job != first->job);
    CHECK(world.disk.keys.size() == 1);
}

TEST_CASE("a job above its project's limit of CPU or memory alone is refused with the numbers") {
    World world;
    berth::model::Entitlement rights;
    rights.cpu_limit = berth::model::MilliCpu{4'000};
    rights.memory_limit = berth::model::Bytes{std::int64_t{8} << 30};
    set_rights(world, rights);
    const auto cpu = refusal_of(world, 5'000, 1);
    REQUIRE(cpu);
    CHECK(cpu->cause == berth::model::Cause::CpuLimitReached);
    CHECK(cpu->host_asks == 5'000);
    CHECK(cpu->host_bound == 4'000);
    const auto memory = refusal_of(world, 1'000, 9);
    REQUIRE(memory);
    CHECK(memory->cause == berth::model::Cause::MemoryLimitReached);
    CHECK_FALSE(refusal_of(world, 4'000, 8));
}

TEST_CASE("a job that cannot be preempted and exceeds a quota of CPU or memory alone is refused") {
    World world;
    berth::model::Entitlement rights;
    rights.cpu_quota = berth::model::MilliCpu{4'000};
    rights.memory_quota = berth::model::Bytes{std::int64_t{8} << 30};
    set_rights(world, rights);
    const auto cpu = refusal_of(world, 5'000, 1, false);
    REQUIRE(cpu);
    CHECK(cpu->cause == berth::model::Cause::NonPreemptibleCpuQuotaReached);
    CHECK(cpu->host_asks == 5'000);
    CHECK(cpu->host_bound == 4'000);
    const auto memory = refusal_of(world, 1'000, 9, false);
    REQUIRE(memory);
    CHECK(memory->cause == berth::model::Cause::NonPreemptibleMemoryQuotaReached);
    CHECK_FALSE(refusal_of(world, 4'000, 8, false));
    CHECK_FALSE(refusal_of(world, 5'000, 9, true));
}
