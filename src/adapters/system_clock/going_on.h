// SPDX-License-Identifier: Apache-2.0
//
// What time is it for the server? One that goes on: at speed 1 by the boot clock (which counts
// while a machine sleeps), whatever is done to the wall clock, and across restarts as much as has
// passed meanwhile. So no deadline is early or late by a clock that was set, and no event is
// stamped before its cause. What people call the date is the wall clock's: a difference to it
// beyond a second is kept apart (date_shift) and added where dates are shown. Pure: fed with
// readings, in milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace berth::system_clock {

struct Reading {
    std::int64_t wall_ms = 0;
    std::int64_t boot_ms = 0;  // since the machine was started
    std::string boot;          // which start that was
};

// The time at a reading: what the next server goes on from.
struct Mark {
    std::int64_t time_ms = 0;
    Reading at;
};

class GoingOn {
  public:
    // Goes on from the mark: by the boot clock on the same start of the machine, else by the wall
    // clock, and never back. Without one it is the wall clock's time.
    GoingOn(const std::optional<Mark>& mark, const Reading& now);

    // `boot_ms` never goes back; `wall_ms` may jump either way.
    std::int64_t time_ms(std::int64_t boot_ms) const { return base_ms_ + boot_ms - boot_ms_; }
    // From now on it is at least so late.
    void not_before(std::int64_t time_ms, std::int64_t boot_ms);
    // The same as before for differences of less than a second, so that a date once shown stays.
    std::int64_t date_shift_ms(std::int64_t wall_ms, std::int64_t boot_ms);

  private:
    std::int64_t base_ms_ = 0;  // the time when the boot clock stood at boot_ms_
    std::int64_t boot_ms_ = 0;
    std::int64_t shift_ms_ = 0;
};

std::string text_of(const Mark& mark);
// None when it is none.
std::optional<Mark> parse_mark(const std::string& text);

}  // namespace berth::system_clock
