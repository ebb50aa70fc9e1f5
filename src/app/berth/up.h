// SPDX-License-Identifier: Apache-2.0
//
// The verbs that need the server itself: berth up and berth down.
#pragma once

#include "cli/command_line/verb.h"

namespace berth::app {

extern const cli::Verb up_verb;
extern const cli::Verb down_verb;

}  // namespace berth::app
