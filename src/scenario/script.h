// SPDX-License-Identifier: Apache-2.0
//
// What does a scenario file say? One command a line: a verb, names, key=value pairs. Lines that
// begin with "> " are the output expected of the command above them; # starts a comment.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::scenario {

struct Command {
    int line = 0;                                      // from 1
    std::string verb;
    std::vector<std::string> names;
    std::map<std::string, std::string> values;
    std::vector<std::string> expected;                 // without the "> "
};

struct Script {
    std::vector<Command> commands;
    std::vector<std::string> lines;                    // of the file, as they stand
};

// Errors: Invalid, "line N: ...".
base::Result<Script> parse_script(std::string_view text);

}  // namespace berth::scenario
