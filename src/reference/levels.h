// SPDX-License-Identifier: Apache-2.0
//
// Levels of attained service: a job starts on the first level and goes down one whenever its GPU
// time passes the level's threshold; upper levels go first, and on a level who first started
// earlier. Nothing is known of durations (discretised two-dimensional LAS; Gu et al., Tiresias,
// NSDI'19, section 3).
#pragma once

#include "reference/order.h"

namespace berth::reference {

class Levels final : public Order {
  public:
    // Thresholds rise; one more level than thresholds.
    explicit Levels(std::vector<GpuMs> thresholds) : thresholds_(std::move(thresholds)) {}

    Rank rank(const JobSnapshot& job) const override;
    // When a running job reaches the next threshold, to the millisecond.
    TimePoint next_change(const JobSnapshot& job) const override;

  private:
    std::vector<GpuMs> thresholds_;
};

}  // namespace berth::reference
