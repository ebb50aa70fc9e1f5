// SPDX-License-Identifier: Apache-2.0
#include "adapters/system_clock/system_clock.h"

#include <time.h>

#include <algorithm>

namespace berth::system_clock {
namespace {

std::int64_t read_ms(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1'000'000;
}

}  // namespace

std::int64_t NeverBack::advance(std::int64_t wall_ms, std::int64_t steady_ms) {
    const std::int64_t passed_ms = has_begun_ ? steady_ms - steady_ms_ : 0;
    has_begun_ = true;
    steady_ms_ = steady_ms;
    // Nine tenths of what has passed is nine tenths of a millisecond for each millisecond.
    tenths_ms_ = std::max(wall_ms * 10, tenths_ms_ + passed_ms * 9);
    return tenths_ms_ / 10;
}

base::TimePoint SystemClock::now() const {
    const std::lock_guard lock(mutex_);
    return base::at_ms(rule_.advance(read_ms(CLOCK_REALTIME), read_ms(CLOCK_MONOTONIC)));
}

}  // namespace berth::system_clock
