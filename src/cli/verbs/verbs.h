// SPDX-License-Identifier: Apache-2.0
//
// Which verbs are there? Each is described where it is carried out; this is the list.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line/context.h"
#include "cli/command_line/verb.h"

namespace berth::cli {

// Ours and the given ones, in the order of `berth help`.
std::vector<const Verb*> all_verbs(std::span<const Verb> system_verbs);

// By name or alias; null when there is none.
const Verb* find_verb(const Context& context, std::string_view name);

// Those of two words that begin with this one: "project" has project ls, project create ...
std::vector<const Verb*> verbs_below(std::span<const Verb* const> verbs, std::string_view word);

}  // namespace berth::cli
