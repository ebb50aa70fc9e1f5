// SPDX-License-Identifier: Apache-2.0
//
// Does each order say who is first, and when that changes, as its header promises?
#include <doctest/doctest.h>

#include <vector>

#include "reference/arrival.h"
#include "reference/finish_fair.h"
#include "reference/gittins.h"
#include "reference/levels.h"
#include "reference/named.h"
#include "reference/shortest.h"
#include "reference/tiresias_released.h"

namespace berth::reference {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kNow = base::at_ms(0) + hours(100);

JobSnapshot waiting(JobIndex job, std::int32_t gpus, Duration held = {}) {
    JobSnapshot standing;
    standing.job = job;
    standing.gpus = gpus;
    standing.now = kNow;
    standing.held = held;
    return standing;
}

JobSnapshot running(JobIndex job, std::int32_t gpus, Duration held = {}) {
    JobSnapshot standing = waiting(job, gpus, held);
    standing.runs = true;
    standing.first_start = kNow - held;
    return standing;
}

JobSnapshot with_left(JobSnapshot standing, Duration left) {
    standing.left = left;
    return standing;
}

}  // namespace

TEST_CASE("by arrival no job is paused, and only strict order blocks") {
    const Arrival strict(Overtaking::None);
    CHECK(strict.rank(running(9, 1)) < strict.rank(waiting(1, 1)));
    CHECK(strict.rank(waiting(1, 1)) == strict.rank(waiting(2, 8)));
    CHECK_FALSE(strict.traits().pauses);
    CHECK(strict.traits().first_blocks);
    CHECK_FALSE(Arrival(Overtaking::WhatFits).traits().first_blocks);
}

TEST_CASE("shortest first counts time, GPU time or GPUs; what is not known is last") {
    const JobSnapshot wide = with_left(waiting(0, 8), minutes(1));
    const JobSnapshot narrow = with_left(waiting(1, 1), minutes(2));
    const Shortest by_time(Size::TimeLeft);
    const Shortest by_service(Size::ServiceLeft);
    CHECK(by_time.rank(wide) < by_time.rank(narrow));
    CHECK(by_service.rank(narrow) < by_service.rank(wide));
    CHECK(by_time.rank(narrow) < by_time.rank(waiting(2, 1)));
    CHECK(Shortest(Size::Gpus).rank(narrow) < Shortest(Size::Gpus).rank(wide));
}

TEST_CASE("a job goes down a level exactly when its GPU time reaches the threshold") {
    const Levels levels({GpuMs{1000}, GpuMs{3000}});
    CHECK(levels.rank(waiting(0, 1, Duration{999})).level == 0);
    CHECK(levels.rank(waiting(0, 1, Duration{1000})).level == 1);
    CHECK(levels.rank(waiting(0, 3, Duration{1000})).level == 2);
    CHECK(levels.next_change(running(0, 1, Duration{400})) == kNow + Duration{600});
    CHECK(levels.next_change(running(0, 2, Duration{501})) == kNow + Duration{999});
    // Three GPUs reach 1,000 GPU-ms within the 334th millisecond.
    CHECK(levels.next_change(running(0, 3)) == kNow + Duration{334});
    CHECK(levels.next_change(running(0, 1, Duration{3000})) == kNever);
    CHECK(levels.next_change(waiting(0, 1)) == kNever);
}

TEST_CASE("Tiresias as released demotes late, behind those who wait, and then lets it run on") {
    TiresiasReleased order;
    for (const JobIndex job : {0, 1, 2}) order.notice(OrderEvent::Submitted, waiting(job, 2));
    CHECK(order.rank(waiting(0, 2)) < order.rank(waiting(1, 2)));
    order.settle(std::vector<JobIndex>{0, 1}, {});
    CHECK(order.rank(running(1, 2)) < order.rank(waiting(2, 2)));
    // 3,250 GPU-seconds are 1,625 s of two GPUs, yet at 1,000 s the next look is thought to be
    // (3250 - 1000) / 2 s away.
    CHECK(order.next_change(running(0, 2, seconds(1000))) == kNow + seconds(1125));
    order.notice(OrderEvent::Changed, running(0, 2, seconds(1625)));
    CHECK(order.rank(running(0, 2)).level == 1);
    CHECK(order.rank(waiting(2, 2)) < order.rank(running(0, 2)));
    // Paused from the front it goes before the others who wait.
    order.settle({}, std::vector<JobIndex>{1});
    CHECK(order.rank(waiting(1, 2)) < order.rank(waiting(2, 2)));
}

TEST_CASE("Gittins: the cost is the GPU time to spend for the next completion") {
    constexpr GpuMs kMinute = 60'000;
    // Half of the jobs take one minute, half a hundred: first try a minute, 60 s / 0.5.
    const Gittins order({kMinute, 100 * kMinute}, 50);
    CHECK(order.cost(0) == 2 * kMinute);
    // Who passed the minute will take the other 99.
    CHECK(order.cost(kMinute) == 99 * kMinute);
    CHECK(order.rank(running(0, 1)).key == kMinute);
    CHECK(order.rank(waiting(0, 1, minutes(1))) < order.rank(waiting(1, 1, hours(2))));
    CHECK(order.next_change(running(0, 2, seconds(10))) == kNow + seconds(20));
}

TEST_CASE("finish-fair: before its fair end is missed, and before its worst, a job is first") {
    FinishFair order({.gpus = 1});
    const auto after = [](Duration waited, JobIndex job, Duration left) {
        JobSnapshot standing = with_left(waiting(job, 1), left);
        standing.submitted = kNow;
        standing.now = kNow + waited;
        return standing;
    };
    const JobSnapshot short_one = after({}, 0, hours(1));
    const JobSnapshot long_one = after({}, 1, hours(2));
    const JobSnapshot unknown = waiting(2, 1);
    for (const JobSnapshot& job : {short_one, long_one, unknown}) {
        order.notice(OrderEvent::Submitted, job);
    }
    CHECK(order.all_moved());
    CHECK(order.next_change(short_one) == kNow + minutes(5));
    CHECK(order.rank(short_one) < order.rank(long_one));  // the least left
    CHECK(order.rank(long_one) < order.rank(unknown));
    // Three jobs want one GPU: fair are three hours, and at worst 1.78 times that. The other runs.
    const auto is_first_after = [&](Duration waited) {
        JobSnapshot other = after(waited, 1, hours(2) - minutes(30));
        other.runs = true;
        order.notice(OrderEvent::Changed, other);
        CHECK(order.all_moved());
        return order.rank(short_one) < order.rank(other) && order.rank(short_one).level == 0;
    };
    CHECK_FALSE(is_first_after(hours(1) + minutes(44)));
    CHECK(is_first_after(hours(1) + minutes(45)));
    CHECK(is_first_after(hours(2)));
    CHECK_FALSE(is_first_after(hours(2) + minutes(1)));  // it cannot end in three hours any more
    CHECK_FALSE(is_first_after(hours(4) + minutes(5)));
    CHECK(is_first_after(hours(4) + minutes(6)));  // 5 h 20 min less an hour and a quarter
}

TEST_CASE("finish-fair: who alone would make everything last longer goes before the short ones") {
    const auto long_before_short = [](std::int64_t long_percent) {
        FinishFair order({.gpus = 2, .long_percent = long_percent});
        for (JobIndex job = 0; job < 8; ++job) {
            JobSnapshot standing = with_left(waiting(job, 1), hours(job == 0 ? 8 : 1));
            standing.submitted = kNow;
            order.notice(OrderEvent::Submitted, standing);
        }
        CHECK(order.all_moved());
        return order.rank(waiting(0, 1)) < order.rank(waiting(1, 1));
    };
    // Fifteen hours of work on two GPUs are 7.5; one job alone takes eight.
    CHECK(long_before_short(106));
    CHECK_FALSE(long_before_short(107));
}

TEST_CASE("every name makes an order, settings are checked") {
    const Surroundings surroundings{.gpus = 64, .sizes = {1000}};
    for (const NamedOrder& known : order_names()) {
        INFO(known.name);
        CHECK(order_named(known.name, surroundings));
    }
    CHECK(order_named("finish-fair:soon=5m:worst=130:long=90:round=1m", surroundings));
    CHECK(order_named("gittins:sticky=50", surroundings));
    const auto error_of = [&](std::string_view text) {
        return order_named(text, surroundings).error().message;
    };
    CHECK(error_of("sfr").starts_with("reference \"sfr\" is none of: fifo fjf"));
    CHECK(error_of("gittins:sticky=0") ==
          "reference \"gittins:sticky=0\": sticky: wanted 1 to 100, found \"0\"");
    CHECK(error_of("finish-fair:soon=x") ==
          "reference \"finish-fair:soon=x\": soon: wanted a time such as 10m, found \"x\"");
    CHECK(error_of("fifo:sticky=3") == "reference \"fifo:sticky=3\": it has no setting \"sticky\"");
    CHECK(error_of("gittins:fast") ==
          "reference \"gittins:fast\": wanted a setting such as sticky=50, found \"fast\"");
}

}  // namespace berth::reference
