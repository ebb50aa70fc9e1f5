// SPDX-License-Identifier: Apache-2.0
//
// What does `berth help` show?
#pragma once

#include <span>
#include <string>

#include "cli/command_line/verb.h"
#include "cli/terminal/style.h"

namespace berth::cli {

// All verbs on one screen, grouped by what one wants to do.
std::string overview(std::span<const Verb* const> verbs, const Style& style);

// One of the verbs: usage, flags, examples, and those that begin with the same word.
std::string verb_help(const Verb& verb, std::span<const Verb* const> verbs, const Style& style);

// "berth 0.1.0\n"
std::string version_text();

extern const Verb help_verb;
extern const Verb version_verb;

}  // namespace berth::cli
