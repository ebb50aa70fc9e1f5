// SPDX-License-Identifier: Apache-2.0
//
// Could reclaim free so much for a project, as far as sums say? What reclaim.h says of one amount,
// remembered: what is refused for an amount is refused for every larger one, so that all the job
// classes of a project cost a few looks at its siblings.
//
// Guarantees: no means that no search for victims would find any. Cost: O(1) once asked.
#pragma once

#include <array>

#include "scheduling/rights/reclaim.h"

namespace berth::scheduling {

class Reclaimable {
  public:
    bool is_possible(const PoolView& view, ProjectId project, MilliGpu amount, Counting counting);
    // Says that what any job holds has changed; `reserved` is idle besides what the cluster says is
    // free.
    void forget(const PoolView& view, MilliGpu reserved);

  private:
    struct Known {
        MilliGpu possible{-1};  // up to here
        MilliGpu refused{-1};  // from here on, when not negative
    };

    MilliGpu kept_{0};
    base::SmallVector<std::array<Known, 2>, 128> known_;  // by project and counting
};

}  // namespace berth::scheduling
