// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/quantity.h"

namespace berth::ports {

// The only source of the present.
class Clock {
  public:
    virtual ~Clock() = default;
    // Milliseconds since 1970, UTC; never goes back within one process.
    virtual base::TimePoint now() const = 0;
};

}  // namespace berth::ports
