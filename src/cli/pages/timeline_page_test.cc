// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/timeline_page.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace berth;
using model::JobState;

namespace {

constexpr base::TimePoint kPresent = base::at_ms(INT64_C(1'700'000'000'000));

base::TimePoint minutes_ago(int minutes) { return kPresent - base::Duration{minutes * 60'000}; }

model::Span span(JobState state, int from, int to) {
    model::Span made;
    made.state = state;
    made.from = minutes_ago(from);
    made.to = minutes_ago(to);
    made.attempt = state == JobState::Queued ? 0 : 1;
    return made;
}

// A job that was paused and is expected back.
model::JobTimeline course() {
    model::JobTimeline course;
    course.now = kPresent;
    course.spans = {span(JobState::Queued, 190, 180), span(JobState::Starting, 180, 179),
                    span(JobState::Running, 179, 6), span(JobState::Pausing, 6, 4),
                    span(JobState::Paused, 4, 0)};
    for (const std::size_t with_gpus : {1, 2, 3}) {
        course.spans[with_gpus].gpus = base::gpus(1);
        course.spans[with_gpus].nodes = {{0}};
    }
    for (const std::size_t leaves : {3, 4}) {
        course.spans[leaves].rule = model::Rule::Reclaim;
        course.spans[leaves].beneficiary = {1047};
    }
    course.spans[4].to.reset();
    course.spans[4].lost_gpu_ms = 95'000;
    course.spans[4].reason = "the job does not handle SIGTERM";
    course.left_out = 2;
    const model::Band present{kPresent, kPresent, kPresent};
    const model::Band back{minutes_ago(-20), minutes_ago(-30), minutes_ago(-60)};
    course.expected = {{JobState::Paused, present, back},
                       {JobState::Running, back, {minutes_ago(-90), {}, {}}}};
    return course;
}

// Without the times of day, which are of the zone of who reads them.
std::string words(const model::JobTimeline& timeline) {
    const cli::Style style{.width = 200};
    codec::NameTable names;
    names.nodes = {"n2"};
    names.jobs = {{model::JobId{1047}, "vision/bert"}};
    std::string text;
    for (const char letter : cli::timeline_page(timeline, names, cli::TimeForm::Ago, style)) {
        const bool is_digit = letter >= '0' && letter <= '9';
        const bool goes_on = is_digit && !text.empty() && text.back() == '#';
        if (!goes_on) text += is_digit ? '#' : letter;
    }
    return text;
}

}  // namespace

TEST_CASE("a line for each span, and what is expected behind them") {
    CHECK(
        words(course()) ==
        "timeline\n"
        "              # earlier\n"
        "  #:#:#    queued #m\n"
        "  #:#:#    starting #m, attempt # with # GPU on n#\n"
        "  #:#:#    running #h#m, attempt # with # GPU on n#\n"
        "  #:#:#    pausing #m, attempt # with # GPU on n#, for # vision/bert (reclaim)\n"
        "  #:#:#    paused #m, for # vision/bert (reclaim), # GPU-s lost: the job does not handle\n"
        "              SIGTERM\n"
        "  expected    paused until about #:#:# (#:#:# to #:#:#)\n"
        "  expected    running until #:#:# at the earliest\n");
}

TEST_CASE("of many spans the newest are shown, and no span is no page") {
    CHECK(words({}).empty());
    model::JobTimeline timeline;
    timeline.now = kPresent;
    for (int minute = 60; minute > 0; --minute) {
        timeline.spans.push_back(span(JobState::Queued, minute, minute - 1));
    }
    const std::string text = words(timeline);
    CHECK(std::ranges::count(text, '\n') == 22);
    CHECK(text.find("# earlier") != std::string::npos);
}
