// SPDX-License-Identifier: Apache-2.0
#include "scenario/script.h"

namespace berth::scenario {
namespace {

std::vector<std::string> split_lines(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::vector<std::string> split_words(std::string_view line) {
    std::vector<std::string> words;
    line = line.substr(0, line.find('#'));
    while (true) {
        const auto start = line.find_first_not_of(" \t\r");
        if (start == std::string_view::npos) return words;
        line.remove_prefix(start);
        const auto end = std::min(line.find_first_of(" \t\r"), line.size());
        words.emplace_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

}  // namespace

base::Result<Script> parse_script(std::string_view text) {
    Script script;
    script.lines = split_lines(text);
    int number = 0;
    for (const std::string& line : script.lines) {
        ++number;
        if (line.starts_with("> ") || line == ">") {
            if (script.commands.empty()) {
                return base::invalid("line " + std::to_string(number) +
                                     ": expected output before any command");
            }
            script.commands.back().expected.push_back(line.size() > 2 ? line.substr(2) : "");
            continue;
        }
        const std::vector<std::string> words = split_words(line);
        if (words.empty()) continue;
        Command command{
            .line = number, .verb = words[0], .names = {}, .values = {}, .expected = {}};
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto equals = words[i].find('=');
            if (equals == std::string::npos) {
                command.names.push_back(words[i]);
                continue;
            }
            if (!command.values.emplace(words[i].substr(0, equals), words[i].substr(equals + 1))
                     .second) {
                return base::invalid("line " + std::to_string(number) + ": \"" +
                                     words[i].substr(0, equals) + "\" is given twice");
            }
        }
        script.commands.push_back(std::move(command));
    }
    return script;
}

}  // namespace berth::scenario
