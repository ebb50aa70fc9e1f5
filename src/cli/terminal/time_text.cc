// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/time_text.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace berth::cli {
namespace {

tm local_time(base::TimePoint time) {
    const std::time_t seconds = static_cast<std::time_t>(base::to_ms(time) / 1000);
    tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
}

std::string formatted(const tm& parts, const char* format) {
    char text[64];
    return {text, std::strftime(text, sizeof(text), format, &parts)};
}

}  // namespace

base::TimePoint clock_now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return base::at_ms(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

std::string age(base::Duration duration) {
    const std::int64_t seconds = std::max<std::int64_t>(0, duration.count() / 1000);
    const auto two = [](std::int64_t large, char a, std::int64_t small, char b) {
        return std::to_string(large) + a + (small > 0 ? std::to_string(small) + b : "");
    };
    if (seconds < 60) return std::to_string(seconds) + "s";
    if (seconds < 10 * 60) return two(seconds / 60, 'm', seconds % 60, 's');
    if (seconds < 3600) return std::to_string(seconds / 60) + "m";
    if (seconds < 86400) return two(seconds / 3600, 'h', seconds % 3600 / 60, 'm');
    return two(seconds / 86400, 'd', seconds % 86400 / 3600, 'h');
}

std::string moment(base::TimePoint time, base::TimePoint now, TimeForm form) {
    if (form == TimeForm::Ago) return age(now - time) + " ago";
    std::string text = formatted(local_time(time), "%Y-%m-%dT%H:%M:%S%z");
    return text.insert(text.size() - 2, ":");
}

std::string clock_time(base::TimePoint time) { return formatted(local_time(time), "%H:%M:%S"); }

}  // namespace berth::cli
