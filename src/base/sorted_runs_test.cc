// SPDX-License-Identifier: Apache-2.0
#include "base/sorted_runs.h"

#include <doctest/doctest.h>

#include <set>

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
        const auto before = std::distance(known.begin(), known.lower_bound(value));
        CHECK(runs.rank(value) == static_cast<std::size_t>(before));
    }
}

}  // namespace berth::base
