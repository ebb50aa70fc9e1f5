// SPDX-License-Identifier: Apache-2.0
#include "base/paged_map.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>

#include "base/ids.h"
#include "base/rng.h"

using berth::base::JobId;
using Map = berth::base::PagedMap<JobId, std::string>;

TEST_CASE("a paged map finds, forgets and walks by id like an ordered map") {
    berth::base::Rng dice(5);
    Map map;
    std::map<JobId, const std::string*> expected;
    std::int64_t last = 0;
    for (int step = 0; step < 5000; ++step) {
        if (dice.chance(3, 5)) {
            const JobId id{last += dice.between(1, 300)};
            expected[id] = &map.emplace(id, std::to_string(id.value));
        } else if (!expected.empty()) {
            const auto gone = std::next(expected.begin(), std::ssize(expected) / 2);
            map.erase(gone->first);
            CHECK(map.find(gone->first) == map.end());
            CHECK(map.get(gone->first) == nullptr);
            expected.erase(gone);
        }
    }
    CHECK(map.size() == expected.size());
    CHECK(map.get({}) == nullptr);
    CHECK(map.get({last + 1}) == nullptr);
    auto next = expected.begin();
    for (const auto& [id, text] : map) {
        REQUIRE(next != expected.end());
        CHECK(id == next->first);
        CHECK(&text == next->second);
        CHECK(&map.at(id) == next->second);
        CHECK(map.find(id)->second == std::to_string(id.value));
        CHECK(std::as_const(map).upper_bound({id.value - 1})->first == id);
        ++next;
    }
    CHECK(next == expected.end());
    CHECK(std::as_const(map).upper_bound({last + 5000}) == std::as_const(map).end());
}

TEST_CASE("a copy of a paged map has entries of its own") {
    Map map;
    map.emplace({7}, "seven");
    const Map copy = map;
    map.at({7}) = "changed";
    map.erase({7});
    CHECK(map.begin() == map.end());
    CHECK(copy.at({7}) == "seven");
    CHECK(copy.begin()->first == JobId{7});
}
