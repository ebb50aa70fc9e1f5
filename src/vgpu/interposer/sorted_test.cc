// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/sorted.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>

using berth::vgpu::interposer::Sorted;

TEST_CASE("a sorted table has what a map has, after any changes") {
    static Sorted<std::uint64_t, std::uint64_t> table;  // as all are: it never frees its memory
    std::map<std::uint64_t, std::uint64_t> map;
    table.erase(7);
    table.erase(table.from(0), table.from(9));
    std::uint64_t dice = 7;
    for (int step = 0; step < 4000; ++step) {
        dice = dice * 6364136223846793005U + 1442695040888963407U;
        const std::uint64_t key = dice >> 33U & 127U;
        const std::uint64_t kind = dice >> 61U;
        if (kind == 0) {
            table.erase(key);
            map.erase(key);
        } else if (kind == 1) {
            table.erase(table.from(key), table.from(key + 9));
            map.erase(map.lower_bound(key), map.lower_bound(key + 9));
        } else {
            REQUIRE(table.put(key, dice) != nullptr);
            map[key] = dice;
        }
        const auto next = map.lower_bound(key);
        REQUIRE((table.from(key) == table.end()) == (next == map.end()));
        if (next != map.end()) REQUIRE(table.from(key)->key == next->first);
        REQUIRE((table.find(key) != nullptr) == map.contains(key));
    }
    REQUIRE(map.size() > 20);
    auto* entry = table.begin();
    for (const auto& [key, value] : map) {
        CHECK(entry->key == key);
        CHECK(entry->value == value);
        ++entry;
    }
    CHECK(entry == table.end());
}
