// SPDX-License-Identifier: Apache-2.0
#include "fuzz/target.h"
#include "fuzz/targets.h"
#include "scenario/run.h"
#include "scenario/script.h"

namespace berth::fuzz {

// Commands and sizes are bounded, as decisions about large clusters take their time by design.
void scenario(std::string_view input) {
    const auto script = scenario::parse_script(input);
    if (!script || script->commands.size() > 40) return;
    const auto outcome = scenario::run(input);
    if (!outcome) {
        expect(outcome.error().message.starts_with("line "), "a refusal names its line");
        return;
    }
    const auto again = scenario::run(outcome->updated);
    expect(again && again->passed, "a scenario prints what it expects");
    expect(again->updated == outcome->updated, "a scenario decides the same each time");
}

}  // namespace berth::fuzz
