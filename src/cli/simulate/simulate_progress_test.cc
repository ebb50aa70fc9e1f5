// SPDX-License-Identifier: Apache-2.0
//
// Is the line of a simulation's progress written seldom, and never without a terminal?
#include "cli/simulate/simulate_progress.h"

#include <doctest/doctest.h>

namespace berth::cli {
namespace {

const simulation::Trace kTraceOfOne{{.submitted = base::at_ms(0), .work = base::Duration{1}}};

}  // namespace

TEST_CASE("progress says the policy, the jobs finished of all and the simulated time") {
    CHECK(progress_text("learned", {12, base::at_ms(12'000'000)}, 300) ==
          "learned: 12 of 300 jobs finished, 3h20m simulated");
    CHECK(progress_text("age", {0, base::at_ms(0)}, 1) == "age: 0 of 1 job finished, 0s simulated");
}

TEST_CASE("progress is written at once, then at most four times a second") {
    const Style style{.is_terminal = true};
    ProgressLine line(style, "age", kTraceOfOne);
    ProgressLine::Clock::time_point now{};
    int written = 0;
    for (int ms = 0; ms < 1000; ++ms) {
        const bool is_due = line.is_due(now + std::chrono::milliseconds(ms));
        if (ms == 0) CHECK(is_due);
        written += is_due ? 1 : 0;
    }
    CHECK(written == 4);
}

TEST_CASE("progress is not even asked for without a terminal") {
    const Style pipe{.is_terminal = false};
    CHECK_FALSE(ProgressLine(pipe, "age", kTraceOfOne).shown());
    const Style terminal{.is_terminal = true};
    CHECK(ProgressLine(terminal, "age", kTraceOfOne).shown());
}

}  // namespace berth::cli
