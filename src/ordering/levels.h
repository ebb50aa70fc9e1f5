// SPDX-License-Identifier: Apache-2.0
//
// Levels of attained service: a job starts on the first level and goes down one whenever its GPU
// time passes the level's threshold; upper levels go first. Nothing is known of durations
// (discretised two-dimensional LAS; Gu et al., Tiresias, NSDI'19, section 3).
//
// Who is first inside a level matters more than the thresholds (docs/simulation.md):
//   FirstStart  the job that first started earlier: Tiresias as published
//   Oldest      running jobs, then the job submitted earlier
//   Narrowest   running jobs, then the job that asks fewer GPUs
//   OldestOnLast   Narrowest, but Oldest on the last level: there wide jobs would wait longest
#pragma once

#include "ordering/order.h"

namespace berth::ordering {

enum class Inside { FirstStart, Oldest, Narrowest, OldestOnLast };

class Levels final : public Order {
  public:
    // Thresholds rise; one more level than thresholds.
    Levels(std::vector<GpuMs> thresholds, Inside inside)
        : thresholds_(std::move(thresholds)), inside_(inside) {}

    Rank rank(const Standing& job) const override;
    // When a running job reaches the next threshold, to the millisecond.
    TimePoint next_change(const Standing& job) const override;

  private:
    std::vector<GpuMs> thresholds_;
    Inside inside_;
};

// first, first x factor, first x factor^2 ...
std::vector<GpuMs> geometric_thresholds(GpuMs first, std::int64_t factor, int count);

}  // namespace berth::ordering
