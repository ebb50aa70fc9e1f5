// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/exit_code.h"

#include <doctest/doctest.h>

#include <fstream>

namespace berth::cli {

TEST_CASE("exit codes are the same on the page and in the help") {
    std::ifstream page(BERTH_SOURCE_DIR "/docs/reference/cli.md");
    std::string text = "Exit codes\n";  // as the help would show the tables of the page
    bool is_below = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) is_below = line == "## Exit codes";
        if (!is_below || !line.starts_with("| ")) continue;
        std::erase(line, '`');
        const std::size_t bar = line.find(" | ");
        const std::string code = line.substr(2, bar - 2);
        const std::string meaning = line.substr(bar + 3, line.size() - bar - 5);
        const bool is_heading = code == "code";
        text += is_heading ? "\n  " : "    " + code + std::string(7 - code.size(), ' ');
        text += meaning + "\n";
    }
    CHECK(exit_code_help() == text);
}

}  // namespace berth::cli
