// SPDX-License-Identifier: Apache-2.0
//
// How many of something are there on each node, where that is the sum of many such counts? A count
// is kept in binary digits, each digit of 64 nodes in one word: to add or to leave out what another
// one counts, and to ask which nodes have enough, takes a few instructions for 64 nodes.
//
// Cost: O(nodes / 64) for each digit; at() and set() O(digits).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace berth::cluster {

using base::NodeId;

class NodeCounts {
  public:
    int at(NodeId node) const;
    void set(NodeId node, int count);
    void add(const NodeCounts& other);
    // Nowhere does `other` count more.
    void subtract(const NodeCounts& other);

    // How many nodes have `least` or more.
    std::int64_t nodes_with(int least) const;
    // Calls `visit` with each of them, in order, until it returns false.
    void visit_with(int least, auto&& visit) const;

  private:
    using Digit = std::vector<std::uint64_t>;
    static constexpr std::size_t kWordBits = 64;

    std::size_t words() const { return digits_.empty() ? 0 : digits_.front().size(); }
    std::uint64_t with(int least, std::size_t word) const;
    void by_digit(const NodeCounts& other, auto&& combine);
    void cover(std::size_t words, std::size_t digits);

    std::vector<Digit> digits_;  // the lowest first, of equal length
    Digit carry_;
};

void NodeCounts::visit_with(int least, auto&& visit) const {
    for (std::size_t word = 0; word < words(); ++word) {
        for (std::uint64_t nodes = with(least, word); nodes != 0; nodes &= nodes - 1) {
            const std::size_t at =
                kWordBits * word + static_cast<std::size_t>(std::countr_zero(nodes));
            if (!visit(NodeId{static_cast<NodeId::Rep>(at)})) return;
        }
    }
}

}  // namespace berth::cluster
