// SPDX-License-Identifier: Apache-2.0
//
// How much GPU time has a project had in a pool lately? Counted in periods of six hours, the last
// thirty days of them, so that a half-life can be chosen, and changed, when the question is asked.
// Whole numbers throughout: the same changes give the same answer on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "base/quantity.h"

namespace berth::cluster {

inline constexpr base::Duration kUsagePeriod{6 * 3600 * 1000};
inline constexpr std::size_t kUsagePeriodsMax = 120;

struct PastUse {
    base::MilliGpu in_use{0};            // now, by tasks that run or are still leaving
    base::TimePoint settled;           // up to when it is counted
    base::TimePoint began;             // of the first change ever
    std::int64_t first_period = 0;     // since the epoch
    std::vector<std::int64_t> milli_gpu_ms;  // of each period from then on

    // From `time` on `amount` more (or less) is in use. Changes may come out of order.
    void change(base::TimePoint time, base::MilliGpu amount);
    // What another has had counts as had here, too; that holds nothing any more.
    void absorb(const PastUse& other);
    // GPU time up to now, in milliseconds, what lies `half_life` back counting half and so on.
    std::int64_t decayed(base::TimePoint now, base::Duration half_life) const;

    bool operator==(const PastUse&) const = default;

  private:
    void add(base::TimePoint from, base::TimePoint to, base::MilliGpu amount);
};

// What one GPU would have had from `began` until now if it had been used all the time.
std::int64_t decayed_time(base::TimePoint began, base::TimePoint now, base::Duration half_life);

}  // namespace berth::cluster
