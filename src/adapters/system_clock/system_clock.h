// SPDX-License-Identifier: Apache-2.0
//
// What time is it? The time of going_on.h by this machine's clocks, kept in a small file so that
// the next server goes on from it. Any thread may ask.
#pragma once

#include <mutex>
#include <string>

#include "adapters/system_clock/going_on.h"
#include "ports/clock.h"

namespace berth::system_clock {

class SystemClock final : public ports::Clock {
  public:
    // The wall clock's time, which goes on from here.
    SystemClock();

    // Goes on from what the file says; for the start, before anybody has asked.
    void go_on_from(const std::string& file);
    void not_before(base::TimePoint time);
    // Writes down what time it is. What fails is made good by the next time, or by the log.
    void keep(const std::string& file) const;

    base::TimePoint now() const override;
    base::Duration date_shift() const override;

  private:
    mutable std::mutex mutex_;
    mutable GoingOn rule_;
};

}  // namespace berth::system_clock
