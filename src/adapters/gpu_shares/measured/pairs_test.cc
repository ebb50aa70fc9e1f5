// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/measured/pairs.h"

#include <doctest/doctest.h>

#include <optional>

namespace berth::gpu_shares {
namespace {

// Two tenants of a lane whose iterations take 100 ms alone.
struct Lane {
    Pairs pairs;
    LaneSight first{"1.1.0", "gpu", 0, 100'000, false};
    LaneSight second{"2.1.0", "gpu", 0, 100'000, false};
    base::TimePoint now;

    // Each makes so many iterations in a window; how many pairs should part then.
    std::size_t window(std::int64_t of_first, std::int64_t of_second) {
        now += Pairs::kWindowMin;
        first.iterations += of_first;
        second.iterations += of_second;
        return pairs.look(std::vector{first, second}, now).size();
    }
};

}  // namespace

TEST_CASE("two that get nothing done beside each other part after three windows, and once") {
    Lane lane;
    CHECK(lane.window(0, 0) == 0);
    CHECK(lane.window(25, 25) == 0);
    CHECK(lane.window(25, 25) == 0);
    CHECK(lane.window(25, 25) == 1);
    CHECK(lane.window(25, 25) == 0);
}

TEST_CASE("two that gain by each other stay, also if they do not in every window") {
    Lane lane;
    lane.window(0, 0);
    for (int i = 0; i < 5; ++i) CHECK(lane.window(40, 40) == 0);
    CHECK(lane.window(20, 20) == 0);
    for (int i = 0; i < 3; ++i) {
        CHECK(lane.window(20, 20) == 0);
        CHECK(lane.window(20, 20) == 0);
        CHECK(lane.window(60, 60) == 0);
    }
}

TEST_CASE("an iteration that ended just within a window is no gain") {
    Lane lane;
    lane.window(0, 0);
    CHECK(lane.window(25, 25) == 0);
    CHECK(lane.window(27, 26) == 0);
    CHECK(lane.window(24, 25) == 1);
}

TEST_CASE("a window has room for twenty iterations of either") {
    Lane lane;
    lane.second.iteration_us = 1'000'000;
    lane.window(0, 0);
    for (int i = 0; i < 11; ++i) CHECK(lane.window(25, i % 2) == 0);
    CHECK(lane.window(25, 1) == 1);
}

TEST_CASE("who loads its data is waited for, who waits for its turn all the time is not") {
    Lane lane;
    lane.window(0, 0);
    for (int i = 0; i < 5; ++i) CHECK(lane.window(50, 0) == 0);
    lane.second.is_waiting = true;
    CHECK(lane.window(50, 0) == 0);
    CHECK(lane.window(50, 0) == 0);
    CHECK(lane.window(50, 0) == 1);
}

TEST_CASE("windows of a pair that is not there any more are forgotten") {
    Lane lane;
    lane.window(0, 0);
    lane.window(25, 25);
    lane.window(25, 25);
    CHECK(lane.pairs.look(std::vector{lane.first}, lane.now).empty());
    CHECK(lane.window(25, 25) == 0);
}

}  // namespace berth::gpu_shares
