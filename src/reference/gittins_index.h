// SPDX-License-Identifier: Apache-2.0
//
// How much has to be spent for the next completion? The Gittins index of a job that has used a of
// its size, when sizes are distributed like S, turned upside down so that it has the unit of a size
// and smaller is better:
//
//   cost(a) = min over D of  E[min(S - a, D) | S > a] / P(S - a <= D | S > a)
//
// (Gittins, 1979; for GPU jobs: Gu et al., Tiresias, NSDI'19, section 3.2.) It is taken at the
// steps of a fixed geometric grid, a quarter more each. Beyond the largest known size it is above
// all others, rising; while nothing is known, it rises with a.
//
// Cost: a question O(log grid); to learn n sizes O(n log n + grid x n).
#pragma once

#include <cstdint>
#include <vector>

namespace berth::reference {

class GittinsIndex {
  public:
    // Of the grid; below the first step all are alike.
    explicit GittinsIndex(std::int64_t first_step);

    void learn(std::vector<std::int64_t> sizes);

    std::int64_t cost(std::int64_t used) const { return costs_[step(used)]; }
    // Where the step after that of `used` begins; above every amount behind the last.
    std::int64_t next_step(std::int64_t used) const;

  private:
    std::size_t step(std::int64_t used) const;

    std::vector<std::int64_t> grid_;  // where steps begin
    std::vector<std::int64_t> costs_;
};

}  // namespace berth::reference
