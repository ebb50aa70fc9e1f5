// SPDX-License-Identifier: Apache-2.0
//
// How much time has passed? By this machine's clock that is never set; for tests that wait for
// sockets.
#pragma once

#include <chrono>

#include "ports/clock.h"

namespace berth::tests {

class SteadyClock final : public ports::Clock {
  public:
    base::TimePoint now() const override {
        using namespace std::chrono;
        return base::at_ms(
            duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
    }
};

}  // namespace berth::tests
