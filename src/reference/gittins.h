// SPDX-License-Identifier: Apache-2.0
//
// Which job costs the least GPU time for the next completion? By the Gittins index of the GPU time
// it has used (gittins_index.h), of jobs whose sizes are known as a whole. A running job counts as
// cheaper by a factor, or two jobs of nearly equal cost would take turns at every step.
#pragma once

#include "reference/gittins_index.h"
#include "reference/order.h"

namespace berth::reference {

class Gittins final : public Order {
  public:
    // `stickiness_percent`: a running job's cost counts for so much of itself; 37 is 1 / e.
    Gittins(const std::vector<GpuMs>& sizes, std::int64_t stickiness_percent);

    Rank rank(const JobSnapshot& job) const override;
    TimePoint next_change(const JobSnapshot& job) const override;

    // GPU time to spend for the next completion, of a job that has used `attained`.
    GpuMs cost(GpuMs attained) const { return index_.cost(attained); }

  private:
    GittinsIndex index_{60'000};
    std::int64_t stickiness_percent_;
};

}  // namespace berth::reference
