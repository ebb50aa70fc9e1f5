// SPDX-License-Identifier: Apache-2.0
#include "base/sorted_runs.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "base/rng.h"

namespace berth::base {

TEST_CASE("sorted runs are the same set as std::set after any changes") {
    Rng dice(5);
    SortedRuns<int> runs;
    std::set<int> known;
    for (int step = 0; step < 20'000; ++step) {
        // Grows for the first half, then shrinks to nothing.
        const int value = static_cast<int>(dice.between(0, 3000));
        const bool grows = dice.between(0, 9) < (step < 10'000 ? 7 : 2);
        if (grows && known.insert(value).second) runs.insert(value);
        if (!grows && known.erase(value) > 0) runs.erase(value);
        if (step % 500 != 0) continue;
        REQUIRE(std::ranges::equal(runs, known));
        CHECK(runs.size() == known.size());
        CHECK(runs.empty() == known.empty());
        if (!known.empty()) CHECK(runs.front() == *known.begin());
        if (!known.empty()) CHECK(runs.back() == *known.rbegin());
        CHECK(runs.contains(value) == known.contains(value));
        CHECK(std::equal(runs.from(value), runs.end(), known.lower_bound(value), known.end()));
        const auto before = std::distance(known.begin(), known.lower_bound(value));
        CHECK(runs.rank(value) == static_cast<std::size_t>(before));
    }
}

TEST_CASE("sorted runs are gone through backwards as well") {
    SortedRuns<int> runs;
    for (int value = 0; value < 1000; ++value) runs.insert(value);
    int expected = 1000;
    for (auto at = runs.end(); at != runs.begin();) CHECK(*--at == --expected);
    CHECK(expected == 0);
}

TEST_CASE("sorted runs that were emptied are filled again") {
    SortedRuns<int> runs;
    for (int round = 0; round < 3; ++round) {
        CHECK(runs.empty());
        CHECK(runs.begin() == runs.end());
        CHECK(runs.from(0) == runs.end());
        for (const int value : {3, 1, 2}) runs.insert(value);
        CHECK(std::ranges::equal(runs, std::vector{1, 2, 3}));
        for (const int value : {2, 1, 3}) runs.erase(value);
    }
}

}  // namespace berth::base
