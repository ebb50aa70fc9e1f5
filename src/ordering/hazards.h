// SPDX-License-Identifier: Apache-2.0
//
// How likely does a job end at each step of its size, if it gets there? Sizes are told apart by
// steps: below a GPU-minute, then a quarter more each. A distribution of sizes is its hazards: of
// those who get to a step, the part that ends in it. Jobs that have not ended tell as much of the
// steps behind them as those that have (Kaplan and Meier, 1958), and where little was seen the
// hazards of something more general fill in, as if so many jobs had been seen to follow them.
#pragma once

#include <array>
#include <cstdint>

#include "ordering/order.h"

namespace berth::ordering {

inline constexpr std::size_t kSizeSteps = 86;  // the last begins at 260 GPU-years and is open
inline constexpr std::int64_t kSure = std::int64_t{1} << 30;

using Hazards = std::array<std::int32_t, kSizeSteps>;  // parts of kSure, each below it

constexpr std::int64_t part(std::int64_t whole, std::int64_t of_sure) {
    return whole * of_sure >> 30;
}

std::size_t size_step(GpuMs size);
GpuMs size_step_begin(std::size_t step);

// What was seen of some jobs; of up to eight million.
class Ends {
  public:
    static constexpr std::int64_t kJob = 1024;  // what one job weighs

    void ended(std::size_t step, std::int64_t weight) { ended_[step] += weight; }
    // It got to `step` and is not known to have ended.
    void reached(std::size_t step, std::int64_t weight) { reached_[step] += weight; }

    // What a job had used at the step beyond which no more than so many percent of all GPU time
    // was used.
    GpuMs last_percent_begin(std::int64_t percent) const;
    // `general` counts like so much weight of jobs.
    Hazards hazards(const Hazards& general, std::int64_t weight) const;

  private:
    std::array<std::int64_t, kSizeSteps> ended_{};
    std::array<std::int64_t, kSizeSteps> reached_{};
};

// GPU time to spend for the completion of a job that has got to the beginning of a step: the
// Gittins index turned upside down, as in gittins_index.h. Cost: O(steps).
GpuMs completion_cost(const Hazards& hazards, std::size_t step);

}  // namespace berth::ordering
