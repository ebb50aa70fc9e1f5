// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/moment.h"

#include <algorithm>

#include "cli/terminal/time_text.h"
#include "codec/words/timestamp.h"

namespace berth::cli {

Outcome<base::TimePoint> moment_in(const Arguments& arguments, std::string_view flag, From from) {
    const std::string text(arguments.text(flag));
    if (const auto time = codec::parse_time(text)) return *time;
    if (const auto midnight = codec::parse_time(text + "T00:00:00Z")) return *midnight;
    const auto away = base::parse_duration(text);
    if (away) return from == From::Past ? clock_now() - *away : clock_now() + *away;
    return tl::unexpected(Failure{kBadUsage,
                                  "--" + std::string(flag) + ": wanted a time such as 6h or " +
                                      "2026-11-27T09:00:00Z, found \"" + text + "\"",
                                  "berth " + std::string(arguments.verb->name) + " --help"});
}

Outcome<std::optional<base::TimePoint>> moment_at(const Arguments& arguments) {
    const bool is_taken = std::ranges::find(arguments.verb->flags, kAtFlag.name, &Flag::name) !=
                          arguments.verb->flags.end();
    if (!is_taken || !arguments.has(kAtFlag.name)) return std::nullopt;
    const auto at = moment_in(arguments, kAtFlag.name, From::Past);
    if (!at) return tl::unexpected(at.error());
    return *at;
}

base::TimePoint shown_moment(const Context& context) { return context.at.value_or(clock_now()); }

}  // namespace berth::cli
