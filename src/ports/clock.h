// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/quantity.h"

namespace berth::ports {

// The only source of the present.
class Clock {
  public:
    virtual ~Clock() = default;
    // Goes on at the speed of time, never back. About milliseconds since 1970, UTC.
    virtual base::TimePoint now() const = 0;
    // What is added to a time where people read it as a date: the clock of the machine may have
    // been set meanwhile.
    virtual base::Duration date_shift() const { return base::Duration{0}; }
};

}  // namespace berth::ports
