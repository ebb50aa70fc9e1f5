// SPDX-License-Identifier: Apache-2.0
//
// Does the core decide what this scenario file expects? Plays the commands in order and compares
// what each prints with the "> " lines below it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::scenario {

struct Outcome {
    bool passed = true;
    int commands = 0;
    // The first difference of each command, as "line 12: - expected / + found" lines.
    std::string difference;
    // The file with what was found in place of what was expected, for review.
    std::string updated;
};

// Errors: Invalid, "line N: ..." when the file itself is wrong.
base::Result<Outcome> run(std::string_view text);

}  // namespace berth::scenario
