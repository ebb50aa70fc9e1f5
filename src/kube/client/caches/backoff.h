// SPDX-License-Identifier: Apache-2.0
//
// How long before it is tried again? Twice as long each time, up to a bound, half more or less by
// dice, so that clients that failed together do not come back together. What the server asks
// (Retry-After) is the least.
#pragma once

#include <algorithm>
#include <optional>

#include "base/quantity.h"
#include "base/rng.h"

namespace berth::kube::client {

class Backoff {
  public:
    struct Bounds {
        base::Duration first;
        base::Duration most;
    };
    Backoff(Bounds bounds, std::uint64_t seed)
        : bounds_(bounds), wait_(bounds.first), dice_(seed) {}

    base::Duration next(std::optional<base::Duration> asked = std::nullopt) {
        const std::int64_t ms = wait_.count();
        const base::Duration drawn{dice_.between(ms - ms / 2, ms + ms / 2)};
        wait_ = std::min(2 * wait_, bounds_.most);
        const base::Duration most = asked.value_or(base::Duration{0});
        // Everybody was asked the same: half a second of dice on top.
        return drawn >= most ? drawn : most + base::Duration{dice_.between(0, 500)};
    }
    void reset() { wait_ = bounds_.first; }

  private:
    Bounds bounds_;
    base::Duration wait_;
    base::Rng dice_;
};

}  // namespace berth::kube::client
