// SPDX-License-Identifier: Apache-2.0
//
// How likely does a job end at each step of its size, if it gets there? Sizes differ by steps:
// below a GPU-minute, then a quarter more each. A distribution of sizes is its hazards: of those
// who get to a step, the part that ends in it. Jobs that have not ended tell as much of the steps
// behind them as those that have (Kaplan and Meier, 1958), and where little was seen the hazards of
// something more general fill in, as if a number of jobs had been seen to follow them.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>

#include "base/quantity.h"

namespace berth::ordering {

// GPU-milliseconds: GPUs held times how long.
using GpuMs = std::int64_t;

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
    using Counts = std::array<std::int64_t, kSizeSteps>;

  public:
    static constexpr std::int64_t kJob = 1024;  // what one job weighs

    void ended(std::size_t step, std::int64_t weight) { ended_[step] += weight; }
    // It got to `step` and is not known to have ended.
    void reached(std::size_t step, std::int64_t weight) { reached_[step] += weight; }
    // Those who have ended count half from now on.
    void fade() {
        for (std::int64_t& count : ended_) count /= 2;
    }

    // What a job had used at the step beyond which no more than this percentage of all GPU time was
    // used.
    GpuMs last_percent_begin(std::int64_t percent) const;
    // `general` counts like so much weight of jobs.
    Hazards hazards(const Hazards& general, std::int64_t weight) const;

    std::int64_t jobs_ended() const {
        std::int64_t weight = 0;
        for (const std::int64_t count : ended_) weight += count;
        return weight / kJob;
    }
    const Counts& all_ended() const { return ended_; }
    const Counts& all_reached() const { return reached_; }
    void restore(std::span<const std::int64_t> ended, std::span<const std::int64_t> reached) {
        std::ranges::copy(ended, ended_.begin());
        std::ranges::copy(reached, reached_.begin());
    }

  private:
    Counts ended_{};
    Counts reached_{};
};

// GPU time to spend for the completion of a job that has got to the beginning of a step: the
// Gittins index turned upside down, as in gittins_index.h. `hazard` is asked for the steps from
// there, in order, as far as they matter. Cost: O(steps).
template <typename Hazard>
    requires std::invocable<Hazard&, std::size_t>
GpuMs completion_cost(Hazard&& hazard, std::size_t step) {
    __extension__ using Int128 = __int128;
    constexpr std::int64_t kHardlyAny = kSure / 1024;  // so few go on that they change no cost
    // The least of (spent up to the end of a step) / (ended by then), over all steps from here.
    const GpuMs used = size_step_begin(step);
    std::int64_t alive = kSure;
    std::int64_t ended = 0;
    Int128 spent = 0;  // by those that ended
    Int128 least = size_step_begin(kSizeSteps);
    std::int64_t per = 1;
    for (; step < kSizeSteps && alive > kHardlyAny; ++step) {
        const GpuMs begin = size_step_begin(step);
        const GpuMs end = size_step_begin(step + 1);
        const std::int64_t ends = std::max<std::int64_t>(part(alive, hazard(step)), 1);
        ended += ends;
        alive -= ends;
        spent += Int128{ends} * ((begin + end) / 2 - used);
        const Int128 all = spent + Int128{alive} * (end - used);
        if (all * per < least * ended) {
            least = all;
            per = ended;
        }
        // What is spent only grows, and no more than all can end by it.
        if (all * per >= least * kSure) break;
    }
    return static_cast<GpuMs>(least / per);
}

inline GpuMs completion_cost(const Hazards& hazards, std::size_t step) {
    return completion_cost([&](std::size_t at) { return hazards[at]; }, step);
}

}  // namespace berth::ordering
