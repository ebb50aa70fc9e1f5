// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/hash_index.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using berth::cluster::HashIndex;

TEST_CASE("every name is found at its place, and no other") {
    std::vector<std::string> names;
    HashIndex index;
    const auto find = [&](const std::string& name) {
        return index.find(berth::base::hash(name),
                          [&](std::uint32_t position) { return names[position] == name; });
    };
    CHECK(find("n0") == HashIndex::kNone);
    for (std::uint32_t i = 0; i < 5000; ++i) {
        names.push_back("n" + std::to_string(i));
        index.insert(i, [&](std::uint32_t position) { return berth::base::hash(names[position]); });
    }
    for (std::uint32_t i = 0; i < 5000; ++i) REQUIRE(find(names[i]) == i);
    CHECK(find("n5000") == HashIndex::kNone);
    CHECK(find("") == HashIndex::kNone);
}
