// SPDX-License-Identifier: Apache-2.0
//
// Which job costs the least GPU time for the next completion? The Gittins index of a job that
// has used GPU time a, when jobs are known to be sized like S, turned upside down so that it has
// a unit and smaller is first:
//
//   cost(a) = min over D of  E[min(S - a, D) | S > a] / P(S - a <= D | S > a)
//
// (Gittins, 1979; for GPU jobs: Gu et al., Tiresias, NSDI'19, section 3.2.) It is taken at the
// steps of a fixed geometric grid of a. A running job counts as cheaper by a factor, or two jobs
// of nearly equal cost would take turns at every step. A job larger than all that is known is last.
//
// Learning: with no sizes to begin with, those of finished jobs are taken in, again whenever there
// is a tenth more of them; before the first kSizesMin, less used is first.
//
// Cost: a rank is O(log grid); taking in n sizes O(grid x n).
#pragma once

#include "ordering/order.h"

namespace berth::ordering {

class Gittins final : public Order {
  public:
    enum class Learning { Off, FromFinished };
    static constexpr std::size_t kSizesMin = 20;

    // `stickiness_percent`: a running job's cost counts for so much of itself; 37 is 1 / e.
    Gittins(std::vector<GpuMs> sizes, Learning learning, std::int64_t stickiness_percent);

    Rank rank(const Standing& job) const override;
    TimePoint next_change(const Standing& job) const override;
    void notice(Happening happening, const Standing& job) override;
    Moved moved() override;

    // GPU time to spend for the next completion, of a job that has used `attained`.
    GpuMs cost(GpuMs attained) const;

  private:
    void take_in();
    std::size_t step(GpuMs attained) const;

    std::vector<GpuMs> sizes_;
    std::size_t next_fit_ = kSizesMin;
    Learning learning_;
    std::int64_t stickiness_percent_;
    std::vector<GpuMs> grid_;  // where steps begin
    std::vector<GpuMs> costs_;
    bool was_fitted_ = false;
};

}  // namespace berth::ordering
