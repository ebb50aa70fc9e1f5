// SPDX-License-Identifier: Apache-2.0
//
// What do running attempts do with their GPUs? Seen from samples of what GPUs do and of what jobs
// that share one use of it; each sample stands for the time since the one before.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lifecycle/apply.h"
#include "ports/gpu_inventory.h"
#include "ports/launcher.h"
#include "ports/share_use.h"

namespace berth::control {

// How busy GPUs are, in percent: of each node those up to the last one that was measured, by index;
// negative = not measured. Empty where none was.
using GpuLoads = std::map<std::string, std::vector<int>>;
GpuLoads gpu_loads(std::span<const ports::GpuReading> readings);

struct UseSeen {
    ports::AttemptId attempt;
    base::Duration idle{0};  // for how long all its GPUs have done nothing; 0 = one does something
    // Since it was last seen: of `measured` kernels ran for `busy`, as its GPUs' mean.
    base::Duration busy{0};
    base::Duration measured{0};
};

class UseWatch {
  public:
    // Of each attempt that runs. One of which a GPU was not measured is left out, and begins anew;
    // so does one that was not looked at for a minute. Cost: O(running tasks and their GPUs).
    std::vector<UseSeen> hear(const GpuLoads& loads, std::span<const ports::ShareUse> uses,
                              const lifecycle::State& state, model::TimePoint now);

  private:
    struct Known {
        model::TimePoint seen;
        model::TimePoint idle_since;
    };
    std::map<ports::AttemptId, Known> known_;
};

}  // namespace berth::control
