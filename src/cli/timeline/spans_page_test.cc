// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline/spans_page.h"

#include <doctest/doctest.h>

using namespace berth;
using model::JobState;

namespace {

constexpr base::TimePoint kThen = base::at_ms(INT64_C(1'700'000'000'000));

// In forty-eighths of the time that is shown.
base::TimePoint part(int index) { return kThen + base::Duration{index * 60'000}; }

model::PastSpan past(JobState state, int from, std::optional<int> to) {
    model::PastSpan span;
    span.state = state;
    span.from = part(from);
    if (to) span.to = part(*to);
    return span;
}

model::ClusterTimeline timeline_of_one() {
    model::ClusterTimeline timeline;
    timeline.sentence = "In the last 24 min: 2 starts, 1 pause, no work lost.";
    timeline.from = part(0);
    timeline.to = part(48);
    timeline.now = part(24);
    model::JobSpans job;
    job.id = 7;
    job.name = "bert";
    job.project = "nlp";
    job.state = JobState::Running;
    job.gpus = base::gpus(2);
    job.spans = {past(JobState::Queued, -5, 4), past(JobState::Starting, 4, 5),
                 past(JobState::Running, 5, 12), past(JobState::Paused, 12, 20),
                 past(JobState::Running, 20, {})};
    const auto all = [](int index) { return model::Band{part(index), part(index), part(index)}; };
    job.expected = {{JobState::Running, all(24), all(30)}};
    timeline.items = {job};
    return timeline;
}

}  // namespace

TEST_CASE("a bar says what a job was in each part of the time, and is expected to be") {
    const std::string page = cli::spans_page(timeline_of_one(), {.width = 120});
    CHECK(page.starts_with("In the last 24 min: 2 starts, 1 pause, no work lost.\n"));
    CHECK(page.find("....+#######////////####======") != std::string::npos);
    CHECK(page.find(". queued   + starting or stopping   # running   / paused   = expected") !=
          std::string::npos);
}

TEST_CASE("what lasts less than a part of the time is shown where nothing else was") {
    model::ClusterTimeline timeline = timeline_of_one();
    timeline.items[0].expected.clear();
    timeline.items[0].spans = {past(JobState::Running, 10, 11)};
    timeline.items[0].spans[0].to = part(10) + base::Duration{1};
    CHECK(cli::spans_page(timeline, {.width = 120}).find(" # ") != std::string::npos);
}

TEST_CASE("a time without a job is a sentence, and what is no longer known is said") {
    model::ClusterTimeline timeline = timeline_of_one();
    timeline.items.clear();
    CHECK(cli::spans_page(timeline, {}) == timeline.sentence + "\n");
    timeline.known_from = part(3);
    CHECK(cli::spans_page(timeline, {}).find("some jobs are no longer known.\n") !=
          std::string::npos);
}
