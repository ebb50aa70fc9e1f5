// SPDX-License-Identifier: Apache-2.0
//
// Places rise, and as few as can be change.
#include "api/live/places.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"

using namespace berth;
using api::Place;

namespace {

// How many of them changed.
int settle(std::vector<Place>& places) {
    const std::vector<Place> before = places;
    std::vector<Place*> in_order;
    for (Place& place : places) in_order.push_back(&place);
    api::settle_places(in_order);
    CHECK(std::ranges::is_sorted(places));
    CHECK(std::ranges::adjacent_find(places) == places.end());
    CHECK((places.empty() || places.front() > 0));
    int changed = 0;
    for (std::size_t i = 0; i < places.size(); ++i) changed += places[i] != before[i] ? 1 : 0;
    return changed;
}

}  // namespace

TEST_CASE("those that have none get one, the others stay") {
    std::vector<Place> places(5);
    CHECK(settle(places) == 5);
    CHECK(settle(places) == 0);
    places.insert(places.begin(), 0);
    places.insert(places.begin() + 3, 0);
    places.push_back(0);
    CHECK(settle(places) == 3);
}

TEST_CASE("one that moves changes alone") {
    std::vector<Place> places(5);
    settle(places);
    std::ranges::rotate(places, places.begin() + 1);  // the first is the last now
    CHECK(settle(places) == 1);
}

TEST_CASE("where no room is left all get new ones") {
    std::vector<Place> places{1, 0, 2, 3};
    CHECK(settle(places) == 4);
    std::vector<Place> last{Place{1} << 53, 0};
    CHECK(settle(last) == 2);
}

TEST_CASE("whatever comes, goes and moves") {
    base::Rng dice(7);
    std::vector<Place> places;
    for (int step = 0; step < 5'000; ++step) {
        const auto at = dice.between(0, std::ssize(places));
        if (dice.chance(1, 2) || places.empty()) {
            places.insert(places.begin() + at, 0);
        } else if (dice.chance(1, 2)) {
            places.erase(places.begin() + std::min(at, std::ssize(places) - 1));
        } else {
            std::swap(places[static_cast<std::size_t>(dice.between(0, std::ssize(places) - 1))],
                      places.back());
        }
        settle(places);
    }
}
