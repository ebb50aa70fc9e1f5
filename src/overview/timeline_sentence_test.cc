// SPDX-License-Identifier: Apache-2.0
#include "overview/timeline_sentence.h"

#include <doctest/doctest.h>

using namespace berth;

namespace {

constexpr base::Duration kLaterHour{3'600'000};
constexpr base::TimePoint kAsOf = base::at_ms(1'000'000'000);

// From hours before now to hours behind it.
model::ClusterTimeline timeline(int before, int behind, const model::SpanCounts& counts) {
    model::ClusterTimeline timeline;
    timeline.now = kAsOf;
    timeline.from = kAsOf - kLaterHour * before;
    timeline.to = kAsOf + kLaterHour * behind;
    timeline.counts = counts;
    return timeline;
}

}  // namespace

TEST_CASE("what happened is counted, and what pauses threw away") {
    model::SpanCounts counts{.jobs = 150, .starts = 143, .pauses = 9};
    CHECK(overview::timeline_sentence(timeline(14, 4, counts), {}) ==
          "In the last 14 h: 143 starts, 9 pauses, no work lost to pauses.");
    counts.lost_gpu_ms = 1'500'000;
    counts.failures = 2;
    counts.parkings = 1;
    CHECK(overview::timeline_sentence(timeline(14, 4, counts), {}) ==
          "In the last 14 h: 143 starts, 9 pauses, 1 parked, 2 failed, 25 GPU-min lost to pauses.");
}

TEST_CASE("one is one, and none is said") {
    CHECK(overview::timeline_sentence(timeline(2, 0, {.jobs = 1, .starts = 1, .pauses = 0}), {}) ==
          "In these 2 h: 1 start, 0 pauses.");
    CHECK(overview::timeline_sentence(timeline(2, 4, {}), {}) == "In the last 2 h: no job.");
}

TEST_CASE("the next end is said of a time that goes on") {
    const model::SpanCounts counts{.jobs = 1, .starts = 1};
    const overview::NextEnd next{
        "gan-long", {kAsOf + kLaterHour, kAsOf + kLaterHour * 2, kAsOf + kLaterHour * 4}};
    CHECK(overview::timeline_sentence(timeline(2, 4, counts), next) ==
          "In the last 2 h: 1 start, 0 pauses. Next to end: gan-long in about 2 h (1 h to 4 h).");
    CHECK(overview::timeline_sentence(timeline(2, -1, counts), next) ==
          "In these 1 h: 1 start, 0 pauses.");
    CHECK(overview::timeline_sentence(timeline(2, 4, counts), overview::NextEnd{"idle", {}}) ==
          "In the last 2 h: 1 start, 0 pauses.");
}
