// SPDX-License-Identifier: Apache-2.0
//
// The command line as one function: what app/berth/main.cc calls.
#pragma once

#include <span>

#include "cli/command_line/verb.h"

namespace berth::cli {

// Finds the verb, parses its arguments, carries it out. Returns the process's exit code
// (exit_code.h). `system_verbs` are those that need what this module may not use: the server.
int main(int argc, char** argv, std::span<const Verb> system_verbs);

}  // namespace berth::cli
