// SPDX-License-Identifier: Apache-2.0
#include "scenario/run.h"

#include <algorithm>
#include <map>

#include "scenario/facts.h"
#include "scenario/script.h"
#include "scenario/stage.h"

namespace berth::scenario {
namespace {

std::string describe(const Command& command, const std::vector<std::string>& found) {
    std::string text = "line " + std::to_string(command.line) + ": " + command.verb + "\n";
    for (const std::string& line : command.expected) {
        if (std::ranges::find(found, line) == found.end()) text += "  - " + line + "\n";
    }
    for (const std::string& line : found) {
        if (std::ranges::find(command.expected, line) == command.expected.end()) {
            text += "  + " + line + "\n";
        }
    }
    return text;
}

}  // namespace

base::Result<Outcome> run(std::string_view text) {
    BERTH_TRY(script, parse_script(text));
    Stage stage;
    Outcome outcome;
    std::map<int, std::vector<std::string>> found_at;  // by line of the command
    for (const Command& command : script.commands) {
        auto found = stage.play(command);
        if (!found) {
            return base::invalid("line " + std::to_string(command.line) + ": " +
                                 found.error().message);
        }
        *found =
            in_form_of(command.expected, std::move(*found), stage.last_verdicts(), stage.state());
        ++outcome.commands;
        if (*found != command.expected) {
            outcome.passed = false;
            outcome.difference += describe(command, *found);
        }
        found_at[command.line] = std::move(*found);
    }
    for (std::size_t i = 0; i < script.lines.size(); ++i) {
        if (script.lines[i].starts_with(">")) continue;
        outcome.updated += script.lines[i] + "\n";
        for (const std::string& line : found_at[static_cast<int>(i) + 1]) {
            outcome.updated += "> " + line + "\n";
        }
    }
    return outcome;
}

}  // namespace berth::scenario
