// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/profiles.h"

#include <doctest/doctest.h>

#include "lifecycle/apply.h"

using namespace berth;
using lifecycle::Profiles;

namespace {

model::TimePoint at(std::int64_t second) {
    return model::TimePoint{model::Duration{second * 1000}};
}

model::JobRecord job(const std::string& name, const std::string& user = "ana", int gpus = 1) {
    model::JobRecord record;
    record.spec.project = "vision";
    record.spec.name = name;
    record.spec.request.gpus = gpus;
    record.user = user;
    return record;
}

model::GpuProfile profile(std::int64_t iterations, std::int64_t compute, std::int64_t bytes) {
    return {iterations, 120'000, base::MilliGpu{compute}, {bytes / 2}, {bytes}, {bytes}};
}

}  // namespace

TEST_CASE("jobs are alike in project, name, user and GPUs, and those without a name in nothing") {
    Profiles profiles;
    profiles.learn(job("train"), profile(100, 380, 9000), at(1));
    REQUIRE(profiles.of(job("train")) != nullptr);
    CHECK(*profiles.of(job("train")) == profile(100, 380, 9000));
    CHECK(profiles.of(job("train", "ben")) == nullptr);
    CHECK(profiles.of(job("train", "ana", 2)) == nullptr);
    CHECK(profiles.of(job("tune")) == nullptr);
    profiles.learn(job(""), profile(100, 380, 9000), at(1));
    CHECK(profiles.of(job("")) == nullptr);
}

TEST_CASE("the memory of the most hungry is kept, the rest is from the last with iterations") {
    Profiles profiles;
    profiles.learn(job("train"), profile(100, 380, 9000), at(1));
    profiles.learn(job("train"), profile(0, 0, 12000), at(2));
    CHECK(profiles.of(job("train"))->compute->value == 380);
    CHECK(profiles.of(job("train"))->highest.value == 12000);
    profiles.learn(job("train"), profile(200, 500, 8000), at(3));
    CHECK(profiles.of(job("train"))->compute->value == 500);
    CHECK(profiles.of(job("train"))->highest.value == 12000);
}

TEST_CASE("of too many kinds of jobs the one measured longest ago is forgotten") {
    Profiles profiles;
    for (std::size_t i = 0; i <= Profiles::kMost; ++i) {
        profiles.learn(job("job-" + std::to_string(i)), profile(1, 1, 1),
                       at(static_cast<std::int64_t>(i)));
    }
    CHECK(profiles.ledgers().size() == Profiles::kMost);
    CHECK(profiles.of(job("job-0")) == nullptr);
    CHECK(profiles.of(job("job-1")) != nullptr);
}

TEST_CASE("what was measured is in snapshots and outlives its job") {
    lifecycle::State state;
    const auto happen = [&](model::EventBody body) {
        REQUIRE(lifecycle::try_apply(
            state, {state.sequence + 1, at(state.sequence), "machine", std::move(body)}));
    };
    happen(model::PoolSet{{"main", {}, {}}});
    model::Project project;
    project.name = "vision";
    happen(model::ProjectSet{project});
    const model::JobRecord like = job("train");
    happen(model::JobSubmitted{model::JobId{1}, like.spec, "ana", "python"});
    happen(model::JobMeasured{model::JobId{1}, profile(100, 380, 9000)});
    happen(model::JobFinished{model::JobId{1}, model::JobState::Succeeded, 0, ""});
    const lifecycle::State restored = lifecycle::restore(lifecycle::snapshot(state));
    REQUIRE(restored.profiles.of(like) != nullptr);
    CHECK(*restored.profiles.of(like) == profile(100, 380, 9000));
    const auto late = model::JobMeasured{model::JobId{1}, profile(100, 380, 9000)};
    CHECK_FALSE(lifecycle::check(state, late));
}
