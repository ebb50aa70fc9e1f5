// SPDX-License-Identifier: Apache-2.0
//
// In which words and units do reports and charts show a time and a part of a whole?
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "base/quantity.h"

namespace berth::simulation {

inline double in_seconds(base::Duration time) { return static_cast<double>(time.count()) / 1000; }

inline std::string time_text(double seconds) {
    return base::format(base::Duration{std::chrono::seconds(std::llround(seconds))});
}

// "12,345"
inline std::string thousands_text(std::int64_t count) {
    std::string digits = std::to_string(count);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

inline std::string percent_text(double part) {
    return std::to_string(std::llround(part * 100)) + "%";
}

}  // namespace berth::simulation
