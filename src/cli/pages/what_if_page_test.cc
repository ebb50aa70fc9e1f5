// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/what_if_page.h"

#include <doctest/doctest.h>

namespace berth::cli {

TEST_CASE("a job that moves is shown with its new GPUs and the job it moves for") {
    const model::JobId moved{1};
    const model::JobId winner{2};
    codec::NameTable names;
    names.jobs = {{moved, "p/train"}, {winner, "p/pair"}};
    names.nodes = {"n0"};
    const model::JobFate then{.fate = model::Fate::Moves,
                              .tasks = {{0, model::NodeId{0}, 0b10, base::kWholeGpu, {}, {}}},
                              .beneficiary = winner};
    const model::WhatIf what_if{.jobs = {{moved, {.fate = model::Fate::Runs}, then}}};
    const std::string page = what_if_page(what_if, names, "with this job submitted", {});
    CHECK(page.find("1 p/train  runs  moves to n0:1 for 2 p/pair") != std::string::npos);
}

}  // namespace berth::cli
