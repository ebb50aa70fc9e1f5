// SPDX-License-Identifier: Apache-2.0
//
// What time is it? The system's wall clock, except that it never goes back: when the wall clock is
// set back, time here goes on at nine tenths of its speed until both agree again. Deadlines are
// then a tenth late at worst, and no event is stamped before its cause. Any thread may ask.
#pragma once

#include <mutex>

#include "ports/clock.h"

namespace berth::system_clock {

// The rule by itself, for tests: feeds readings of both clocks, in milliseconds.
class NeverBack {
  public:
    // `wall_ms` may jump either way; `steady_ms` never goes back.
    std::int64_t advance(std::int64_t wall_ms, std::int64_t steady_ms);

  private:
    bool has_begun_ = false;
    std::int64_t steady_ms_ = 0;
    std::int64_t tenths_ms_ = 0;  // what was answered last, in tenths of a millisecond
};

class SystemClock final : public ports::Clock {
  public:
    base::TimePoint now() const override;

  private:
    mutable std::mutex mutex_;
    mutable NeverBack rule_;
};

}  // namespace berth::system_clock
