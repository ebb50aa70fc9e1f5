// SPDX-License-Identifier: Apache-2.0
//
// Jobs that may share a GPU: what launchers measure of them, and what is ordered of launchers.
#include <doctest/doctest.h>

#include "control/world.h"

using berth::model::JobId;
using berth::model::JobState;
using berth::ports::StopReason;
using berth::tests::World;

namespace {

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

const berth::model::GpuProfile kHalfIdle{
    100, 100'000, berth::base::MilliGpu{500}, {4 * kGibibyte}, {20 * kGibibyte}, {20 * kGibibyte}};

struct Sharing : World {
    Sharing() {
        for (std::uint32_t node : {0U, 1U}) {
            auto known = controller->state().cluster.description({node});
            known.gpu_memory = {80 * kGibibyte};
            controller->set_node(known, "admin", [](const auto&) {});
        }
        step();
    }

    JobId share() {
        auto wanted = job_of("a", 1);
        wanted.spec.name = "resnet";
        wanted.spec.may_share = true;
        wanted.spec.packed = berth::model::GpuPart{{1}, {1}};  // which is not believed
        const auto answer = submit(wanted);
        step();
        if (state(answer->job) == JobState::Starting) running(answer->job);
        return answer->job;
    }

    void measured(JobId job) {
        launcher->listener().on_measured(attempt(job), kHalfIdle);
        step();
    }

    bool are_together(JobId one, JobId other) const {
        const auto& first = job(one).tasks.at(0);
        const auto& second = job(other).tasks.at(0);
        return first.node == second.node && first.gpu_mask == second.gpu_mask;
    }
};

}  // namespace

TEST_CASE("what may share is said to the launcher, with what is known of jobs like it") {
    Sharing world;
    const JobId first = world.share();
    CHECK(world.launcher->starts[0].may_share);
    CHECK_FALSE(world.launcher->starts[0].profile.has_value());
    CHECK(world.job(first).tasks[0].share == berth::base::kWholeGpu);
    world.measured(first);
    const JobId second = world.share();
    CHECK(world.launcher->starts[1].profile == kHalfIdle);
    CHECK(world.are_together(first, second));
}

TEST_CASE("what was measured is known after a crash, and nothing that ran was moved") {
    Sharing world;
    const JobId first = world.share();
    world.measured(first);
    const JobId second = world.share();
    const std::string before = world.dump();
    world.restart();
    CHECK(world.dump() == before);
    CHECK(world.are_together(first, second));
    CHECK(world.launcher->starts.empty());
}

TEST_CASE("of a pair that gains nothing the later one is asked to save, and is alone then") {
    Sharing world;
    const JobId first = world.share();
    world.measured(first);
    const JobId second = world.share();
    world.launcher->listener().on_slow_pair(world.attempt(second), world.attempt(first));
    world.step();
    CHECK(world.state(first) == JobState::Running);
    CHECK(world.state(second) == JobState::Pausing);
    CHECK(world.job(second).last_pause->rule == berth::model::Rule::Part);
    CHECK(world.job(second).last_pause->beneficiary == first);
    REQUIRE(world.launcher->stops.size() == 1);
    CHECK(world.launcher->stops[0].reason == StopReason::Pause);
    world.exits(second, berth::tests::saved_and_left());
    CHECK(world.state(second) == JobState::Starting);
    CHECK_FALSE(world.are_together(first, second));
    CHECK(world.job(second).tasks[0].share == berth::base::kWholeGpu);
    CHECK_FALSE(world.launcher->starts.back().may_share);
    CHECK(world.job(world.share()).tasks[0].share == berth::base::kWholeGpu);
}

TEST_CASE("news of a pair that is none any more changes nothing") {
    Sharing world;
    const JobId first = world.share();
    world.measured(first);
    const JobId second = world.share();
    const auto old = world.attempt(second);
    world.exits(second, {});
    world.launcher->listener().on_slow_pair(world.attempt(first), old);
    world.step();
    CHECK(world.state(first) == JobState::Running);
    CHECK(world.count("jobs_parted") == 0);
}
