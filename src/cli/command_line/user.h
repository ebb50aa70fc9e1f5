// SPDX-License-Identifier: Apache-2.0
//
// Whose jobs are meant?
#pragma once

#include <string>

#include "cli/command_line/arguments.h"

namespace berth::cli {

// Of --user, where "me" is the caller as the server knows it at the other end of its socket; empty:
// anyone's.
std::string user_wanted(const Arguments& arguments);

}  // namespace berth::cli
