// SPDX-License-Identifier: Apache-2.0
#include "overview/spoken_time.h"

#include <algorithm>

namespace berth::overview {
namespace {

using model::Duration;
using model::TimePoint;

constexpr Duration kSecond{1'000};
constexpr Duration kMinute{60'000};
constexpr Duration kHour{3'600'000};
constexpr Duration kDay{24 * 3'600'000};

// What an estimate is worth: minutes below an hour, five of them below six hours, else thirty.
Duration rounded(Duration time) {
    if (time < kMinute) return time < kSecond ? Duration{0} : kMinute;
    const Duration step = time < kHour ? kMinute : time < 6 * kHour ? 5 * kMinute : 30 * kMinute;
    return (time + step / 2) / step * step;
}

}  // namespace

std::string spoken(Duration time) {
    const auto in = [&](Duration large, const char* unit, Duration small, const char* small_unit) {
        const std::int64_t rest = time % large / small;
        std::string text = std::to_string(time / large) + " " + unit;
        return rest == 0 ? text : text + " " + std::to_string(rest) + " " + small_unit;
    };
    if (time < kSecond) return "less than 1 s";
    if (time < kMinute) return std::to_string(time / kSecond) + " s";
    if (time < 10 * kMinute) return in(kMinute, "min", kSecond, "s");
    if (time < kHour) return std::to_string(time / kMinute) + " min";
    if (time < kDay) return in(kHour, "h", kMinute, "min");
    return in(kDay, "d", kHour, "h");
}

std::string in_about(const model::Band& band, TimePoint now) {
    if (!band.optimistic) return "";
    const auto away = [now](TimePoint moment) {
        return rounded(std::max(moment - now, Duration{0}));
    };
    const auto text = [](Duration time) {
        return time == Duration{0} ? std::string("now") : spoken(time);
    };
    if (!band.expected) return " in " + text(away(*band.optimistic)) + " at the earliest";
    const Duration first = away(*band.optimistic);
    const Duration expected = away(*band.expected);
    const std::string when = expected == Duration{0} ? " now" : " in about " + text(expected);
    if (!band.pessimistic) return when + " (" + text(first) + " or later)";
    const Duration last = away(*band.pessimistic);
    if (first == last) return when;
    return when + " (" + text(first) + " to " + text(last) + ")";
}

}  // namespace berth::overview
