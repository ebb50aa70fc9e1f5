// SPDX-License-Identifier: Apache-2.0
#include "cli/what_if/replay_page.h"

#include <doctest/doctest.h>

#include <regex>

namespace berth::cli {

TEST_CASE("a replay shows what really happened, both sides, and each project's difference") {
    using std::chrono::minutes;
    model::WhatIfReplay replay;
    replay.sentence = "Jobs would have waited 4 min on average, not 12 min.";
    replay.trust = "Both sides are simulated.";
    replay.never_ran = 3;
    const auto side = [](int wait, std::int64_t pauses) {
        model::ReplayFigures figures;
        figures.jobs = 10;
        figures.mean_wait = minutes(wait);
        figures.pauses = pauses;
        figures.used_gpu_ms = 50;
        figures.capacity_gpu_ms = 100;
        return figures;
    };
    replay.all = {"", side(14, 2), side(12, 1), side(4, 0)};
    replay.projects = {{"vision", side(14, 2), side(12, 1), side(4, 1)}};
    const std::string page = replay_page(replay, "with the quota vision=6", {});
    CHECK(page.starts_with("with the quota vision=6\n" + replay.sentence + "\n" + replay.trust));
    const std::string words = std::regex_replace(page, std::regex(" +"), " ");
    CHECK(words.find("\nmean wait 14m 12m 4m\n") != std::string::npos);
    CHECK(words.find("\nuse 50 % 50 % 50 %\n") != std::string::npos);
    CHECK(words.find("\nvision 10 12m -> 4m 0s 0s 1\n") != std::string::npos);
    CHECK(page.ends_with("3 jobs that have not run are left out; nothing was changed\n"));
}

}  // namespace berth::cli
