// SPDX-License-Identifier: Apache-2.0
#include "scenario/run.h"

#include <doctest/doctest.h>

using berth::scenario::run;

TEST_CASE("a scenario passes when every command prints what is expected") {
    const auto outcome = run(R"(node n0 gpus=2
project a quota=2
submit a/x gpus=2
decide
> start a/x n0:0-1
decide
> nothing
)");
    REQUIRE(outcome.has_value());
    CAPTURE(outcome->difference);
    CHECK(outcome->passed);
    CHECK(outcome->commands == 5);
}

TEST_CASE("a difference is shown and can be taken over for review") {
    const auto outcome = run("node n0 gpus=1\nproject a quota=1\nsubmit a/x\ndecide\n> nothing\n");
    REQUIRE(outcome.has_value());
    CHECK_FALSE(outcome->passed);
    CHECK(outcome->difference == "line 4: decide\n  - nothing\n  + start a/x n0:0\n");
    CHECK(run(outcome->updated)->passed);
}

TEST_CASE("a scenario may expect the reason and numbers of a wait, and leave its words free") {
    const std::string setting = R"(node n0 gpus=2
project a quota=1
project b quota=1
submit a/x gpus=2
submit b/y gpus=2
decide
> start a/x n0:0-1
> wait b/y PriorityAhead position=1
why b/y
)";
    const auto passes = [&](const std::string& expected) {
        const auto outcome = run(setting + expected);
        REQUIRE(outcome.has_value());
        return outcome->passed;
    };
    CHECK(passes("> wait b/y QuotaFair\n"));
    CHECK(passes("> wait b/y QuotaFair used=0 bound=1 asks=2 scope=b blockers=a/x\n"));
    CHECK_FALSE(passes("> wait b/y PoolFull\n"));
    CHECK_FALSE(passes("> wait b/y QuotaFair bound=2\n"));
    CHECK_FALSE(passes("> wait b/y QuotaFair colour=red\n"));
    CHECK_FALSE(passes("> wait a/x QuotaFair\n"));
    CHECK_FALSE(passes(""));
    // What is taken over for review keeps the form.
    CHECK(run(setting + "> wait b/y PoolFull bound=2\n")->updated ==
          setting + "> wait b/y QuotaFair bound=1\n");
}

TEST_CASE("a file that cannot be understood says where and why") {
    CHECK(run("> early\n").error().message == "line 1: expected output before any command");
    CHECK(run("node n0 gpus=x\ndecide\n").error().message ==
          "line 1: node: gpus: wanted a whole number, found \"x\"");
    CHECK(run("node n0 gpus=1 colour=red\n").error().message ==
          "line 1: node: unknown key \"colour\"; known are cpu gpu_context gpu_memory "
          "gpu_reserved gpus health islands matrix memory model nics numa others.cpu others.gpus "
          "others.memory others.on others.resources resources shares_lack taints");
    CHECK(
        run("policy tier_factor=4\n").error().message ==
        "line 1: policy: setting \"tier_factor\" is gone: each step of order=levels ends at eight "
        "times the GPU time of the one before");
    CHECK_FALSE(run("dance\n").has_value());
}
