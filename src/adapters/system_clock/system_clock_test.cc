// SPDX-License-Identifier: Apache-2.0
#include "adapters/system_clock/system_clock.h"

#include <doctest/doctest.h>

#include <ctime>

#include "base/rng.h"

using namespace berth;
using berth::system_clock::NeverBack;
using berth::system_clock::SystemClock;

TEST_CASE("while the wall clock goes forward, it is the time") {
    NeverBack rule;
    CHECK(rule.advance(1'000'000, 5) == 1'000'000);
    CHECK(rule.advance(1'000'100, 105) == 1'000'100);
    CHECK(rule.advance(9'000'000, 205) == 9'000'000);
}

TEST_CASE("a wall clock that was set back is waited for at nine tenths of the speed") {
    NeverBack rule;
    CHECK(rule.advance(1'000'000, 0) == 1'000'000);
    CHECK(rule.advance(999'000, 0) == 1'000'000);
    CHECK(rule.advance(999'100, 100) == 1'000'090);
    CHECK(rule.advance(1'008'990, 9'990) == 1'008'991);
    CHECK(rule.advance(1'009'100, 10'100) == 1'009'100);  // they agree again
    CHECK(rule.advance(1'009'200, 10'200) == 1'009'200);
}

TEST_CASE("it never goes back, and never stands still for long, whatever the wall clock does") {
    base::Rng rng(11);
    NeverBack rule;
    std::int64_t wall = 1'000'000;
    std::int64_t steady = 0;
    std::int64_t last = rule.advance(wall, steady);
    for (int step = 0; step < 100'000; ++step) {
        const std::int64_t passed = rng.between(0, 50);
        steady += passed;
        wall += rng.chance(1, 100) ? rng.between(-100'000, 100'000) : passed;
        const std::int64_t now = rule.advance(wall, steady);
        REQUIRE(now >= last);
        REQUIRE(now >= wall);
        REQUIRE(now - last >= passed * 9 / 10 - 1);
        last = now;
    }
}

TEST_CASE("it is the present") {
    const SystemClock clock;
    const std::int64_t seconds = base::to_ms(clock.now()) / 1000;
    CHECK(seconds >= std::time(nullptr) - 2);
    CHECK(seconds <= std::time(nullptr) + 2);
}
