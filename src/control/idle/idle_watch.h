// SPDX-License-Identifier: Apache-2.0
//
// Since when do all GPUs of a running attempt do nothing? Seen from samples of what GPUs do and of
// what jobs that share one use of it; what was between two samples is not known.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lifecycle/apply.h"
#include "ports/gpu_inventory.h"
#include "ports/launcher.h"
#include "ports/share_use.h"

namespace berth::control {

// Whether GPUs do something, by node and index; those that were not measured are left out.
using BusyGpus = std::map<std::pair<std::string, int>, bool>;
BusyGpus busy_gpus(std::span<const ports::GpuReading> readings);

class IdleWatch {
  public:
    // For how long each attempt that runs has been seen to do nothing; 0 = it was warned of that,
    // and does something now. One of which a GPU was not measured is left out, and begins anew.
    // Cost: O(running tasks).
    std::vector<std::pair<ports::AttemptId, base::Duration>> hear(
        const BusyGpus& gpus, std::span<const ports::ShareUse> uses, const lifecycle::State& state,
        model::TimePoint now);

  private:
    std::map<ports::AttemptId, model::TimePoint> since_;
};

}  // namespace berth::control
