// SPDX-License-Identifier: Apache-2.0
#include "timeline/expected.h"

#include <doctest/doctest.h>

using namespace berth;
using model::Evidence;
using model::JobState;

namespace {

constexpr base::Duration kHour{3'600'000};
constexpr base::TimePoint kNow = base::at_ms(1'000'000);

model::JobRecord in_state(JobState state) {
    model::JobRecord job;
    job.state = state;
    return job;
}

model::StartEstimate starts_in(int first, int expected, int last) {
    model::StartEstimate start;
    start.optimistic = kNow + kHour * first;
    start.expected = kNow + kHour * expected;
    start.pessimistic = kNow + kHour * last;
    return start;
}

model::RunTime runs_for(int hours, Evidence evidence = Evidence::Declared) {
    return {kHour * hours, {}, evidence};
}

}  // namespace

TEST_CASE("a job that runs goes on for half, all or twice the time that is expected") {
    const auto spans = timeline::expected(in_state(JobState::Running), {}, runs_for(2), kNow);
    REQUIRE(spans.size() == 1);
    CHECK(spans[0].state == JobState::Running);
    CHECK(spans[0].from.expected == kNow);
    CHECK(spans[0].to == model::Band{kNow + kHour, kNow + kHour * 2, kNow + kHour * 4});
}

TEST_CASE("a job of which nothing is known has no expected end") {
    const auto run = runs_for(2, Evidence::None);
    CHECK(timeline::expected(in_state(JobState::Running), {}, run, kNow).empty());
    const auto spans =
        timeline::expected(in_state(JobState::Queued), starts_in(1, 2, 3), run, kNow);
    REQUIRE(spans.size() == 2);
    CHECK(spans[1].to == model::Band{});
}

TEST_CASE("a paused job is paused until it starts, and then runs") {
    const auto spans =
        timeline::expected(in_state(JobState::Paused), starts_in(1, 2, 6), runs_for(4), kNow);
    REQUIRE(spans.size() == 2);
    CHECK(spans[0].state == JobState::Paused);
    CHECK(spans[0].from == model::Band{kNow, kNow, kNow});
    CHECK(spans[0].to == spans[1].from);
    CHECK(spans[1].state == JobState::Running);
    CHECK(spans[1].from == model::Band{kNow + kHour, kNow + kHour * 2, kNow + kHour * 6});
    CHECK(spans[1].to == model::Band{kNow + kHour * 3, kNow + kHour * 6, kNow + kHour * 14});
}

TEST_CASE("an estimate with an open end leaves it open") {
    model::StartEstimate start;
    start.optimistic = kNow + kHour;
    const auto spans = timeline::expected(in_state(JobState::Queued), start, runs_for(2), kNow);
    REQUIRE(spans.size() == 2);
    CHECK(spans[1].from == model::Band{kNow + kHour, {}, {}});
    CHECK(spans[1].to == model::Band{kNow + kHour * 2, {}, {}});
}

TEST_CASE("an estimate that is some seconds old begins nothing before now") {
    model::StartEstimate start = starts_in(0, 0, 1);
    start.optimistic = kNow - kHour;
    const auto spans = timeline::expected(in_state(JobState::Queued), start, runs_for(2), kNow);
    REQUIRE(spans.size() == 2);
    CHECK(spans[0].to.optimistic == kNow);
}

TEST_CASE("nothing is expected of a job on hold, one that ended or one without an estimate") {
    model::JobRecord held = in_state(JobState::Paused);
    held.held = true;
    CHECK(timeline::expected(held, starts_in(1, 2, 3), runs_for(1), kNow).empty());
    const auto ended = in_state(JobState::Succeeded);
    CHECK(timeline::expected(ended, starts_in(1, 2, 3), runs_for(1), kNow).empty());
    CHECK(timeline::expected(in_state(JobState::Queued), {}, runs_for(1), kNow).empty());
    CHECK(timeline::expected(in_state(JobState::Queued), model::StartEstimate{}, runs_for(1), kNow)
              .empty());
}
