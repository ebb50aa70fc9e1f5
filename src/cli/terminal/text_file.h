// SPDX-License-Identifier: Apache-2.0
//
// What does a file say? Whole, with a bound; "-" is standard input.
#pragma once

#include <string>

#include "base/result.h"

namespace berth::cli {

inline constexpr std::size_t kTextFileMax = std::size_t{256} << 20;

// Errors: NotFound or Invalid, "FILE: what is wrong".
base::Result<std::string> read_text_file(const std::string& path);

// Replaces the file in one step. Errors: Unavailable.
base::Status write_text_file(const std::string& path, const std::string& text);

}  // namespace berth::cli
