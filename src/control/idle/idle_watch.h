// SPDX-License-Identifier: Apache-2.0
//
// Since when do all GPUs of a running attempt do nothing? Seen from samples of what GPUs do and of
// what jobs that share one use of it; what was between two samples is not known.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "lifecycle/apply.h"
#include "ports/gpu_inventory.h"
#include "ports/launcher.h"
#include "ports/share_use.h"

namespace berth::control {

class IdleWatch {
  public:
    // For how long each attempt that runs has been seen to do nothing; 0 = it was warned of that,
    // and does something now. One of which a GPU was not measured is left out, and begins anew.
    // Cost: O(readings + running tasks).
    std::vector<std::pair<ports::AttemptId, base::Duration>> hear(
        std::span<const ports::GpuReading> readings, std::span<const ports::ShareUse> uses,
        const lifecycle::State& state, model::TimePoint now);

  private:
    std::map<ports::AttemptId, model::TimePoint> since_;
};

}  // namespace berth::control
