// SPDX-License-Identifier: Apache-2.0
//
// Which job costs the least GPU time for the next completion? By the Gittins index of the GPU time
// it has used (gittins_index.h). A running job counts as cheaper by a factor, or two jobs of nearly
// equal cost would take turns at every step.
//
// Learning: with no sizes to begin with, those of finished jobs are taken in, again whenever there
// is a tenth more of them; before the first kSizesMin, less used is first.
#pragma once

#include "ordering/gittins_index.h"
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
    GpuMs cost(GpuMs attained) const { return index_.cost(attained); }

  private:
    GittinsIndex index_{60'000};
    std::vector<GpuMs> sizes_;
    std::size_t next_learning_ = kSizesMin;
    Learning learning_;
    std::int64_t stickiness_percent_;
    bool has_learned_ = false;
};

}  // namespace berth::ordering
