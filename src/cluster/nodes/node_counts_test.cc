// SPDX-License-Identifier: Apache-2.0
//
// Are sums of counts, kept in binary digits, those of plain numbers?
#include "cluster/nodes/node_counts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"

namespace berth::cluster {
namespace {

constexpr int kNodes = 150;  // more than two words

// One of them as plain numbers, too.
class Counts {
  public:
    void set(int node, int count) {
        plain_[static_cast<std::size_t>(node)] = count;
        counts.set({static_cast<NodeId::Rep>(node)}, count);
    }
    void add(const Counts& other, int sign) {
        for (std::size_t i = 0; i < kNodes; ++i) plain_[i] += sign * other.plain_[i];
        sign > 0 ? counts.add(other.counts) : counts.subtract(other.counts);
    }
    void check() const {
        for (int node = 0; node < kNodes; ++node) {
            CHECK(counts.at({static_cast<NodeId::Rep>(node)}) ==
                  plain_[static_cast<std::size_t>(node)]);
        }
        for (int least = 1; least <= std::ranges::max(plain_) + 1; ++least) {
            std::vector<NodeId> expected;
            for (int node = 0; node < kNodes; ++node) {
                if (plain_[static_cast<std::size_t>(node)] < least) continue;
                expected.push_back({static_cast<NodeId::Rep>(node)});
            }
            std::vector<NodeId> visited;
            counts.visit_with(least, [&](NodeId node) {
                visited.push_back(node);
                return true;
            });
            CHECK(visited == expected);
            CHECK(counts.nodes_with(least) == std::ssize(expected));
        }
    }

    NodeCounts counts;

  private:
    std::vector<int> plain_ = std::vector<int>(kNodes);
};

TEST_CASE("sums of counts are those of plain numbers") {
    base::Rng dice(5);
    for (int round = 0; round < 50; ++round) {
        Counts sum;
        std::vector<Counts> parts(8);
        for (Counts& part : parts) {
            const int nodes = static_cast<int>(dice.between(0, kNodes));
            for (int i = 0; i < nodes; ++i) {
                part.set(static_cast<int>(dice.index(kNodes)), static_cast<int>(dice.index(9)));
            }
            sum.add(part, +1);
        }
        sum.check();
        for (const Counts& part : parts) sum.add(part, -1);
        sum.check();
    }
}

TEST_CASE("a visit ends where it is to") {
    Counts counts;
    for (const int node : {3, 70, 71, 140}) counts.set(node, 2);
    std::vector<NodeId> visited;
    counts.counts.visit_with(2, [&](NodeId node) {
        visited.push_back(node);
        return visited.size() < 2;
    });
    CHECK(visited == std::vector<NodeId>{{3}, {70}});
}

}  // namespace
}  // namespace berth::cluster
