// SPDX-License-Identifier: Apache-2.0
//
// What does each expert say of a job? Those are:
//
//   all            all jobs
//   width          those that ask as many GPUs
//   kin            those of the same project and user of that width, near in time (kin.h): the
//                  further apart in submission, the less they weigh. There are four, for whom two
//                  minutes, an hour or a day is far, or nothing.
//
// The more special one goes by the more general one where it has seen little.
#pragma once

#include "ordering/hazards.h"
#include "ordering/kin.h"

namespace berth::ordering {

// How many there are: kin's, and those two in general.
inline constexpr std::size_t kReaches = 4;
inline constexpr std::size_t kExperts = 2 + kReaches;

// The first reach for which the nearest of a job's kin that tell something is not far; kReaches
// when there is none.
std::size_t nearness(const Kin::Near& near, std::span<const Kin::Course> courses);

// What kin tell is kept as counts by step. Learning costs O((kin near + steps) x reaches).
class Views {
  public:
    // Both are looked at again whenever somebody asks.
    Views(const Hazards& all, const Hazards& width) : all_(&all), width_(&width) {
        for (ByReach& seen : seen_) seen.fill(kWidthWeight);
    }

    // Once. `courses`: how far each of those near the job had come.
    void learn(const Kin::Near& near, std::span<const Kin::Course> courses);

    // Of each expert.
    std::array<std::int32_t, kExperts> hazards(std::size_t step) const;
    std::size_t nearness() const { return nearness_; }

  private:
    using ByReach = std::array<std::int32_t, kReaches>;  // weights of jobs
    static constexpr std::int32_t kWidthWeight = Ends::kJob;  // what `width` counts for

    static ByReach weights(Duration apart);
    void count(Kin::Course course, const ByReach& weights);

    const Hazards* all_;
    const Hazards* width_;
    // Of each step: who ended in it; who got to it, as far as is known no further.
    std::array<ByReach, kSizeSteps> ended_{}, reached_{};
    std::array<ByReach, kSizeSteps> seen_;  // who got to its end, or ended in it; and `width`
    std::size_t nearness_ = kReaches;
};

}  // namespace berth::ordering
