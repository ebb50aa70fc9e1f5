// SPDX-License-Identifier: Apache-2.0
//
// Which of a node's free GPUs does a task take? Of all sets of the right size
//   1 the one whose GPUs are nearest to each other (the sum over its pairs),
//   2 of a gang over several nodes: with most network cards of its own; of others: with fewest,
//   3 the one that leaves the free GPUs behind it nearest to each other,
//   4 the lowest GPUs.
// Cost: one look-up for nodes of up to kTableGpus GPUs, in a table made once for each kind of node;
// on larger ones a set is grown from each free GPU, nearest first, and the best one taken.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "model/node/gpu_links.h"

namespace berth::cluster {

enum class Spread { OneNode, ManyNodes };

class GpuChoice {
  public:
    static constexpr int kTableGpus = 8;

    // Trusts that nearness(links, gpus) has no complaint.
    GpuChoice(const model::GpuLinks& links, int gpus);

    // `count` of the GPUs in `free`, which has at least `count`.
    std::uint64_t best(std::uint64_t free, int count, Spread spread) const;

  private:
    using Score = std::tuple<int, int, int>;

    int near(int a, int b) const {
        return near_[static_cast<std::size_t>(a) * static_cast<std::size_t>(gpus_) +
                     static_cast<std::size_t>(b)];
    }
    int nearness_within(std::uint64_t mask) const;
    int cards(std::uint64_t mask) const;
    Score score(std::uint64_t chosen, std::uint64_t free, Spread spread) const;
    int nearest(std::uint64_t from, std::uint64_t to) const;
    std::uint64_t search(std::uint64_t free, int count, Spread spread) const;
    std::uint64_t grow(std::uint64_t free, int count, Spread spread) const;
    std::size_t entry(std::uint64_t free, int count, Spread spread) const;

    int gpus_;
    std::vector<int> near_;
    std::vector<int> nics_;
    std::vector<std::uint8_t> table_;  // by reach, count and free GPUs
};

}  // namespace berth::cluster
