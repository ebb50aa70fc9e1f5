// SPDX-License-Identifier: Apache-2.0
//
// The verbs that look after the files of a server: its event log and what lies beside it.
#pragma once

#include "cli/command_line/verb.h"

namespace berth::app {

extern const cli::Verb backup_verb;
extern const cli::Verb restore_verb;
extern const cli::Verb check_verb;

}  // namespace berth::app
