// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/measured/pairs.h"

#include <doctest/doctest.h>

#include <optional>

namespace berth::gpu_shares {
namespace {

// Two tenants of a rotation whose iterations take 100 ms alone.
struct Rotation {
    Pairs pairs;
    RotationSight first{"1.1.0", "gpu", 0, 100'000, false};
    RotationSight second{"2.1.0", "gpu", 0, 100'000, false};
    base::TimePoint now;

    // The number of pairs that should part when the two make these iterations in a window.
    std::size_t window(std::int64_t of_first, std::int64_t of_second) {
        now += Pairs::kWindowMin;
        first.iterations += of_first;
        second.iterations += of_second;
        return pairs.look(std::vector{first, second}, now).size();
    }
};

}  // namespace

TEST_CASE("two that get nothing done beside each other part after three windows, and once") {
    Rotation rotation;
    CHECK(rotation.window(0, 0) == 0);
    CHECK(rotation.window(25, 25) == 0);
    CHECK(rotation.window(25, 25) == 0);
    CHECK(rotation.window(25, 25) == 1);
    CHECK(rotation.window(25, 25) == 0);
}

TEST_CASE("two that gain by each other stay, also if they do not in every window") {
    Rotation rotation;
    rotation.window(0, 0);
    for (int i = 0; i < 5; ++i) CHECK(rotation.window(40, 40) == 0);
    CHECK(rotation.window(20, 20) == 0);
    for (int i = 0; i < 3; ++i) {
        CHECK(rotation.window(20, 20) == 0);
        CHECK(rotation.window(20, 20) == 0);
        CHECK(rotation.window(60, 60) == 0);
    }
}

TEST_CASE("an iteration that ended just within a window is no gain") {
    Rotation rotation;
    rotation.window(0, 0);
    CHECK(rotation.window(25, 25) == 0);
    CHECK(rotation.window(27, 26) == 0);
    CHECK(rotation.window(24, 25) == 1);
}

TEST_CASE("a window has room for eight iterations of either: those of 2 s part in a minute") {
    Rotation rotation;
    rotation.second.iteration_us = 2'000'000;
    rotation.window(0, 0);
    std::size_t parted = 0;
    int seconds = 0;
    for (; parted == 0 && seconds < 120; seconds += 5) parted = rotation.window(25, 1);
    CHECK(seconds == 60);
}

TEST_CASE("who loads its data is waited for, who waits for its turn all the time is not") {
    Rotation rotation;
    rotation.window(0, 0);
    for (int i = 0; i < 5; ++i) CHECK(rotation.window(50, 0) == 0);
    rotation.second.is_waiting = true;
    CHECK(rotation.window(50, 0) == 0);
    CHECK(rotation.window(50, 0) == 0);
    CHECK(rotation.window(50, 0) == 1);
}

TEST_CASE("windows of a pair that is not there any more are forgotten") {
    Rotation rotation;
    rotation.window(0, 0);
    rotation.window(25, 25);
    rotation.window(25, 25);
    CHECK(rotation.pairs.look(std::vector{rotation.first}, rotation.now).empty());
    CHECK(rotation.window(25, 25) == 0);
}

}  // namespace berth::gpu_shares
