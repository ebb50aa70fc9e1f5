// SPDX-License-Identifier: Apache-2.0
//
// How are the two streams written? Results go to standard output, everything else to standard
// error.
#pragma once

#include <string_view>

#include "base/result.h"

namespace berth::cli {

// Writes all of `text` to standard output.
void print(std::string_view text);
// Errors: Internal, something printed could not be written.
base::Status all_printed();
// Writes all of `text` to standard error.
void print_notice(std::string_view text);

}  // namespace berth::cli
