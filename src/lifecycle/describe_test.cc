// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/describe.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lifecycle/invariants.h"

using namespace berth;
using model::TaskState;

namespace {

constexpr model::TimePoint kNow = base::at_ms(1'000'000);

// A node of four GPUs, on which one job is leaving two.
struct Listed {
    model::Description described;

    Listed() {
        described.now = kNow;
        described.as_listed = true;
        model::Node node;
        node.name = "n0";
        node.gpus = 4;
        node.cpu = base::MilliCpu{4000};
        described.nodes.push_back(node);
        model::Project project;
        project.name = "p";
        described.projects.push_back(project);
        add("leaves", {{TaskState::Releasing, "n0", {0, 1}}});
    }

    model::JobDescription& add(const std::string& name, std::vector<model::TaskDescription> tasks) {
        model::JobDescription& job = described.jobs.emplace_back();
        job.spec.project = "p";
        job.spec.name = name;
        job.spec.request.gpus = 2;
        job.spec.tasks_min = job.spec.tasks_max = static_cast<int>(tasks.size());
        job.created = kNow;
        job.tasks = std::move(tasks);
        return job;
    }
    void add_promised(const std::string& name, int tasks, std::int64_t until_ms = 60'000) {
        const model::TaskDescription task{TaskState::Promised, "n0", {}};
        add(name, std::vector(static_cast<std::size_t>(tasks), task)).promised_until =
            kNow + base::Duration{until_ms};
    }

    // The GPUs that are promised to the job of this place in the list, from 1, one mask a task.
    std::vector<std::uint64_t> promised_to(int place) const {
        const auto state = lifecycle::from_description(described);
        REQUIRE_MESSAGE(state.has_value(), (state ? "" : state.error().message));
        for (const std::string& found : lifecycle::violations(state->cluster)) FAIL(found);
        CHECK(state->jobs.get(model::JobId{place}) != nullptr);
        std::vector<std::uint64_t> masks;
        for (const auto& task : state->jobs.at(model::JobId{place}).reserved)
            masks.push_back(task.gpu_mask);
        return masks;
    }
};

using GpuMasks = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("a promise without stated GPUs is of those that are free or being left") {
    Listed listed;
    listed.add_promised("gang", 2);
    CHECK(listed.promised_to(2) == GpuMasks{0b0011, 0b1100});
}

TEST_CASE("a promise without stated GPUs is void where there is no room for all of it") {
    Listed listed;
    int tasks = 2;
    SUBCASE("as another job runs there") {
        listed.add("runs", {{TaskState::Running, "n0", {2, 3}}});
    }
    SUBCASE("as others use a GPU of it") { listed.described.nodes[0].others.gpus = 1; }
    SUBCASE("as the node is down") { listed.described.nodes[0].health = model::NodeHealth::Down; }
    SUBCASE("as it has fewer GPUs") { tasks = 3; }
    SUBCASE("as the node is in another pool") {
        listed.described.pools.push_back({"other", {{"a", "b"}}, {}});
        listed.described.nodes[0].labels = {{"a", "b"}};
    }
    listed.add_promised("gang", tasks);
    CHECK(listed.promised_to(static_cast<int>(listed.described.jobs.size())).empty());
}

TEST_CASE("of two promises of the same GPUs the one that is kept longer stands") {
    Listed listed;
    listed.add_promised("first", 2, 60'000);
    listed.add_promised("second", 2, 70'000);
    CHECK(listed.promised_to(2).empty());
    CHECK(listed.promised_to(3) == GpuMasks{0b0011, 0b1100});
}

TEST_CASE("a job that leaves was asked to when it says, and is paused once") {
    Listed listed;
    listed.described.jobs[0].last_start = kNow - base::Duration{50'000};
    listed.described.jobs[0].last_pause = kNow - base::Duration{10'000};
    const auto state = lifecycle::from_description(listed.described);
    REQUIRE(state.has_value());
    const model::JobRecord& job = state->jobs.at(model::JobId{1});
    CHECK(job.state == model::JobState::Pausing);
    CHECK(job.last_pause->time == kNow - base::Duration{10'000});
    CHECK(job.pauses == 0);  // that is counted when it has left
}
