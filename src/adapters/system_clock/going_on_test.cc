// SPDX-License-Identifier: Apache-2.0
#include "adapters/system_clock/going_on.h"

#include <doctest/doctest.h>

#include "base/rng.h"

using namespace berth;
using namespace berth::system_clock;

namespace {

constexpr std::int64_t kDay = 24 * 3600 * 1000;
constexpr std::int64_t kYear = 365 * kDay;
constexpr std::int64_t kWall = 1'700'000'000'000;

}  // namespace

TEST_CASE("the first time is the wall clock's, and goes on by the boot clock") {
    const GoingOn rule({}, {kWall, 500, "b1"});
    CHECK(rule.time_ms(500) == kWall);
    CHECK(rule.time_ms(2'500) == kWall + 2'000);
}

TEST_CASE("a wall clock that is set while it runs moves dates, not the time") {
    GoingOn rule({}, {kWall, 0, "b1"});
    for (const std::int64_t jump : {-kDay, kDay, kYear}) {
        CHECK(rule.time_ms(2'000) == kWall + 2'000);
        CHECK(rule.date_shift_ms(kWall + 2'000 + jump, 2'000) == jump);
    }
    CHECK(rule.date_shift_ms(kWall + 3'000, 3'000) == 0);
}

TEST_CASE("a date that was shown stays while the wall clock is within a second of it") {
    GoingOn rule({}, {kWall, 0, "b1"});
    CHECK(rule.date_shift_ms(kWall + 1'000 + kDay, 1'000) == kDay);
    CHECK(rule.date_shift_ms(kWall + 2'999 + kDay, 2'000) == kDay);
    CHECK(rule.date_shift_ms(kWall + 1'001 + kDay, 2'000) == kDay);
    CHECK(rule.date_shift_ms(kWall + 3'000 + kDay, 2'000) == kDay + 1'000);
}

TEST_CASE("a restart goes on by the boot clock, whatever the wall clock says by then") {
    const Mark mark{kWall, {kWall, 10'000, "b1"}};
    for (const std::int64_t jump : {-kDay, std::int64_t{0}, kDay, kYear}) {
        GoingOn rule(mark, {kWall + 5'000 + jump, 15'000, "b1"});
        CHECK(rule.time_ms(15'000) == kWall + 5'000);
        CHECK(rule.time_ms(17'000) == kWall + 7'000);
        CHECK(rule.date_shift_ms(kWall + 5'000 + jump, 15'000) == jump);
    }
}

TEST_CASE("after the machine was started again it goes on by the wall clock, and never back") {
    const Mark mark{kWall, {kWall - kDay, 90'000, "b1"}};  // dates are a day behind
    CHECK(GoingOn(mark, {kWall - kDay + 60'000, 7'000, "b2"}).time_ms(7'000) == kWall + 60'000);
    const GoingOn rule(mark, {kWall - 3 * kDay, 7'000, "b2"});
    CHECK(rule.time_ms(7'000) == kWall);
    CHECK(rule.time_ms(9'000) == kWall + 2'000);  // it does not stand still
}

TEST_CASE(
    "a log that is ahead of the clock is caught up with at once, and time goes on from there") {
    GoingOn rule({}, {kWall, 0, "b1"});
    rule.not_before(kWall + kDay, 100);
    CHECK(rule.time_ms(100) == kWall + kDay);
    CHECK(rule.time_ms(2'100) == kWall + kDay + 2'000);
    CHECK(rule.date_shift_ms(kWall + 2'100, 2'100) == 100 - kDay);
    rule.not_before(kWall, 3'000);
    CHECK(rule.time_ms(3'100) == kWall + kDay + 3'000);
}

TEST_CASE(
    "through any restarts and settings of the clock, time is what has passed on the boot clock") {
    base::Rng rng(7);
    std::int64_t boot_ms = 1'000;
    std::int64_t wall_ms = kWall;
    GoingOn rule({}, {wall_ms, boot_ms, "b1"});
    for (int step = 0; step < 10'000; ++step) {
        const std::int64_t passed = rng.between(0, 5'000);
        boot_ms += passed;
        wall_ms += passed;
        if (rng.chance(1, 20)) wall_ms += rng.between(-kYear, kYear);
        if (rng.chance(1, 10)) {
            const auto mark =
                parse_mark(text_of({rule.time_ms(boot_ms), {wall_ms, boot_ms, "b1"}}));
            REQUIRE(mark.has_value());
            rule = GoingOn(mark, {wall_ms, boot_ms, "b1"});
        }
        REQUIRE(rule.time_ms(boot_ms) == kWall + boot_ms - 1'000);
        REQUIRE(std::abs(rule.time_ms(boot_ms) + rule.date_shift_ms(wall_ms, boot_ms) - wall_ms) <
                1'000);
    }
}

TEST_CASE("a file that is no mark is none") {
    for (const char* text : {"", " ", "time 1 wall 2", "time x wall 2 since_boot 3 boot b",
                             "12 wall 2 since_boot 3 boot b"}) {
        CHECK_FALSE(parse_mark(text).has_value());
    }
    const auto mark = parse_mark("time 1 wall 2 since_boot 3 boot b1\n   ");
    REQUIRE(mark.has_value());
    CHECK(mark->at.boot == "b1");
}
