// SPDX-License-Identifier: Apache-2.0
#include "cluster/name_index.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using berth::cluster::NameIndex;

TEST_CASE("every name is found at its place, and no other") {
    std::vector<std::string> names;
    NameIndex index;
    const auto name_at = [&](std::uint32_t position) -> std::string_view {
        return names[position];
    };
    CHECK(index.find("n0", name_at) == NameIndex::kNone);
    for (std::uint32_t i = 0; i < 5000; ++i) {
        names.push_back("n" + std::to_string(i));
        index.insert(i, name_at);
    }
    for (std::uint32_t i = 0; i < 5000; ++i) REQUIRE(index.find(names[i], name_at) == i);
    CHECK(index.find("n5000", name_at) == NameIndex::kNone);
    CHECK(index.find("", name_at) == NameIndex::kNone);
}
