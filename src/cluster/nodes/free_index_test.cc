// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/free_index.h"

#include <doctest/doctest.h>

#include <set>

#include "base/rng.h"

using berth::base::NodeId;
using berth::cluster::FreeIndex;
using berth::cluster::NodeSet;

TEST_CASE("a node set finds the next member like an ordered set does") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        berth::base::Rng rng(seed);
        NodeSet nodes;
        std::set<std::uint32_t> expected;
        for (int step = 0; step < 2000; ++step) {
            const auto node = static_cast<std::uint32_t>(rng.between(0, 9000));
            if (rng.chance(1, 2)) {
                nodes.insert({node});
                expected.insert(node);
            } else {
                nodes.erase({node});
                expected.erase(node);
            }
            const auto from = static_cast<std::uint32_t>(rng.between(0, 9100));
            const auto next = expected.lower_bound(from);
            const NodeId found = nodes.next({from});
            REQUIRE(found.is_valid() == (next != expected.end()));
            if (found.is_valid()) REQUIRE(found.value == *next);
            REQUIRE(nodes.size() == static_cast<int>(expected.size()));
        }
    }
}

TEST_CASE("slots count whole tasks that fit on each node") {
    FreeIndex index;
    index.insert({0}, 8);
    index.insert({1}, 7);
    index.insert({2}, 3);
    CHECK(index.slots(1, 8) == 18);
    CHECK(index.slots(4, 8) == 3);
    CHECK(index.slots(8, 8) == 1);
    index.erase({0}, 8);
    CHECK(index.slots(8, 8) == 0);
}
