// SPDX-License-Identifier: Apache-2.0
#include "adapters/system_clock/going_on.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace berth::system_clock {
namespace {

constexpr std::int64_t kSameDateMs = 1000;

}  // namespace

GoingOn::GoingOn(const std::optional<Mark>& mark, const Reading& now) : boot_ms_(now.boot_ms) {
    if (!mark) {
        base_ms_ = now.wall_ms;
        return;
    }
    const bool is_same_boot = mark->at.boot == now.boot;
    const std::int64_t passed =
        is_same_boot ? now.boot_ms - mark->at.boot_ms : now.wall_ms - mark->at.wall_ms;
    base_ms_ = mark->time_ms + std::max<std::int64_t>(passed, 0);
    shift_ms_ = mark->at.wall_ms - mark->time_ms;
    if (std::abs(shift_ms_) < kSameDateMs) shift_ms_ = 0;
}

void GoingOn::not_before(std::int64_t time, std::int64_t boot_ms) {
    base_ms_ += std::max<std::int64_t>(time - time_ms(boot_ms), 0);
}

std::int64_t GoingOn::date_shift_ms(std::int64_t wall_ms, std::int64_t boot_ms) {
    const std::int64_t shift = wall_ms - time_ms(boot_ms);
    if (std::abs(shift - shift_ms_) >= kSameDateMs) shift_ms_ = shift;
    return shift_ms_;
}

std::string text_of(const Mark& mark) {
    return "time " + std::to_string(mark.time_ms) + " wall " + std::to_string(mark.at.wall_ms) +
           " since_boot " + std::to_string(mark.at.boot_ms) + " boot " + mark.at.boot + '\n';
}

std::optional<Mark> parse_mark(const std::string& text) {
    std::istringstream words(text);
    std::string time;
    std::string wall;
    std::string since_boot;
    std::string boot;
    Mark mark;
    words >> time >> mark.time_ms >> wall >> mark.at.wall_ms >> since_boot >> mark.at.boot_ms >>
        boot >> mark.at.boot;
    if (!words || time != "time" || wall != "wall" || since_boot != "since_boot") return {};
    return mark;
}

}  // namespace berth::system_clock
