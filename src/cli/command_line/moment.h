// SPDX-License-Identifier: Apache-2.0
//
// Which moment does a flag name? A date, a day, or how far it is from now.
#pragma once

#include <optional>

#include "base/quantity.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"

namespace berth::cli {

// Of a verb that can show the cluster as it was.
inline constexpr Flag kAtFlag{0, "at", "TIME", "a past moment: how long ago, or a date"};

enum class From { Past, Future };

// `from`: on which side of now a duration lies. Errors: bad usage, naming the flag.
Outcome<base::TimePoint> moment_in(const Arguments& arguments, std::string_view flag, From from);
// What --at says; none where it is not given, or the verb does not take it.
Outcome<std::optional<base::TimePoint>> moment_at(const Arguments& arguments);
// The one that answers are of.
base::TimePoint shown_moment(const Context& context);

}  // namespace berth::cli
