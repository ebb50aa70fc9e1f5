// SPDX-License-Identifier: Apache-2.0
//
// Does a state that is written into a file and read back decide the same? Plays random lives:
//   written_down [--seeds N]
// In every second one jobs have companions. After every event the state is written down, read as a
// state file and decided on: plan and verdicts must be the same, word for word.
#include <charconv>
#include <iostream>
#include <string>
#include <string_view>

#include "codec/files/state_file.h"
#include "codec/files/state_writer.h"
#include "companion_lines.h"
#include "lifecycle/describe.h"
#include "lifecycle/invariants.h"
#include "lifecycle/write_down.h"
#include "random_script.h"
#include "scenario/render.h"
#include "scenario/stage.h"
#include "scheduling/decide.h"
#include "scheduling/explain/explain.h"

namespace {

using namespace berth;

constexpr int kEvents = 20;
constexpr int kFailuresShown = 5;

std::string decided(lifecycle::State state, const model::Policy& policy, model::TimePoint now) {
    const model::Plan plan = scheduling::decide(state.cluster, policy, now);
    std::string text;
    for (const std::string& line : scenario::render(state, plan)) text += line + "\n";
    for (const auto& verdict : scheduling::explain_all(state.cluster, policy, plan, now)) {
        text += scenario::render(state, verdict) + "\n";
    }
    if (plan.next_wakeup) text += "wakes " + base::format(*plan.next_wakeup - now) + "\n";
    return text;
}

// What differs; empty when nothing does.
std::string difference(const scenario::Stage& stage) {
    // A state file holds no ledgers of what was wasted today and of past use.
    const model::Snapshot snapshot = lifecycle::snapshot(stage.state());
    if (!snapshot.waste.empty() || stage.policy().measured_usage) return {};
    const std::string text = codec::state_json(lifecycle::written_down(stage.state(), stage.now()));
    const auto description = codec::parse_state(text, "state.json");
    if (!description) return description.error().message + "\n" + text;
    const auto again = lifecycle::from_description(*description);
    if (!again) return again.error().message + "\n" + text;
    const std::string wanted = decided(stage.state(), stage.policy(), stage.now());
    const std::string found = decided(*again, stage.policy(), description->now);
    if (wanted == found) return {};
    return "wanted\n" + wanted + "found\n" + found + text + "\n";
}

std::string live(std::uint64_t seed) {
    base::Rng rng(seed);
    const proof::Setting setting = proof::random_setting(rng);
    scenario::Stage stage;
    const auto play = [&](const std::string& line) {
        (void)stage.play(scenario::parse_script(line)->commands.front());
    };
    const bool has_companions = seed % 2 == 0;
    const auto extended = [&](const std::string& line) {
        return has_companions ? proof::with_companions(rng, line) : line;
    };
    for (const std::string& line : setting.fixed) play(line);
    for (const std::string& line : setting.shuffled) play(extended(line));
    play("shares");
    proof::Course course;
    for (int i = 0; i < kEvents; ++i) {
        if (i % 2 == 0) play("decide");
        play(extended(proof::random_event(rng, setting, stage.state(), course)));
        if (const std::string found = difference(stage); !found.empty()) return found;
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t seeds = 1000;
    if (argc == 3 && std::string_view(argv[1]) == "--seeds") {
        const std::string_view count = argv[2];
        std::from_chars(count.data(), count.data() + count.size(), seeds);
    }
    int failed = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const std::string found = live(seed);
        if (found.empty() || ++failed > kFailuresShown) continue;
        std::cout << "seed " << seed << '\n' << found << '\n';
    }
    std::cout << seeds << " seeds, " << failed << " failed\n";
    return failed == 0 ? 0 : 1;
}
