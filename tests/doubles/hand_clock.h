// SPDX-License-Identifier: Apache-2.0
//
// A clock that a test moves by hand.
#pragma once

#include "ports/clock.h"

namespace berth::tests {

class HandClock final : public ports::Clock {
  public:
    base::TimePoint now() const override { return now_; }
    void advance(base::Duration by) { now_ += by; }

  private:
    base::TimePoint now_ = base::at_ms(1'700'000'000'000);
};

}  // namespace berth::tests
