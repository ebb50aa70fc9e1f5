// SPDX-License-Identifier: Apache-2.0
#include "cli/what_if/what_if_page.h"

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
    model::WhatIf what_if;
    what_if.jobs = {{moved, {.fate = model::Fate::Runs}, then}};
    const std::string page = what_if_page(what_if, names, "with this job submitted", {});
    CHECK(page.find("1 p/train  runs  moves to n0:1 for 2 p/pair") != std::string::npos);
}

TEST_CASE("the answer is a sentence, and a project's row says what would be another one") {
    model::WhatIf what_if;
    what_if.sentence = "No job would start or pause; 1 job waits as before.";
    model::ShareChange change{.project = "nlp", .pool = "default", .now = {}, .then = {}};
    change.now = {base::gpus(2), model::kUnlimited, 1000, base::gpus(4), base::gpus(3), {}};
    change.then = change.now;
    change.then.quota = base::gpus(6);
    change.then.weight_thousandths = 500;
    what_if.projects = {change};
    const std::string page = what_if_page(what_if, {}, "with the quota nlp=6", {});
    CHECK(page.find("with the quota nlp=6\n" + what_if.sentence + "\n") == 0);
    CHECK(page.find("nlp      default  2 -> 6   none  1 -> 0.5           4     3        0") !=
          std::string::npos);
    CHECK(page.ends_with("nothing was changed\n"));
}

}  // namespace berth::cli
