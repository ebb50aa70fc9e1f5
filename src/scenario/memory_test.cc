// SPDX-License-Identifier: Apache-2.0
//
// What a decision remembers of earlier ones (scheduling/memory.h) must not outlive what it is
// about.
#include <doctest/doctest.h>

#include "scenario/script.h"
#include "scenario/stage.h"
#include "scheduling/cycle.h"

using namespace berth;

TEST_CASE("work counts otherwise from the moment the weights of GPU models change") {
    scenario::Stage stage;
    for (const char* line : {"node n gpus=4 model=A100", "project a quota=2", "project b quota=2",
                             "running a/1 on=n", "running a/2 on=n", "running a/3 on=n",
                             "running a/4 on=n", "submit b/pair gpus=2", "plan"}) {
        REQUIRE(stage.play(scenario::parse_script(line)->commands.front()).has_value());
    }
    lifecycle::State state = stage.state();
    const auto decide = [&](scheduling::Memory& memory) {
        return scheduling::decide(state.cluster, stage.policy(), stage.now(), memory);
    };
    scheduling::Memory memory;
    CHECK(decide(memory).pauses.size() == 2);
    const model::PoolSet half{{model::kDefaultPool, {}, {{"A100", 500}}}};
    lifecycle::apply(state, {state.sequence + 1, state.time, "test", half});
    scheduling::Memory none;
    const model::Plan plan = decide(memory);
    CHECK(plan.pauses.size() == 2);
    CHECK(plan == decide(none));
}
