// SPDX-License-Identifier: Apache-2.0
//
// How is a moment written? RFC 3339 in UTC with milliseconds: "2026-03-01T12:00:00.250Z".
#pragma once

#include <string>
#include <string_view>

#include "base/quantity.h"

namespace berth::codec {

std::string format_time(base::TimePoint time);

// Reads RFC 3339 with any offset; digits beyond milliseconds are dropped. Years 0000 to 9999.
// Errors: Invalid, saying what was found.
base::Result<base::TimePoint> parse_time(std::string_view text);

}  // namespace berth::codec
