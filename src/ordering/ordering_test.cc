// SPDX-License-Identifier: Apache-2.0
//
// Does each order say who is first, and when that changes, as its header promises?
#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "ordering/arrival.h"
#include "ordering/experts.h"
#include "ordering/finish_fair.h"
#include "ordering/gittins.h"
#include "ordering/guarded.h"
#include "ordering/hazards.h"
#include "ordering/kin.h"
#include "ordering/levels.h"
#include "ordering/named.h"
#include "ordering/predicted.h"
#include "ordering/shortest.h"
#include "ordering/tiresias_released.h"

namespace berth::ordering {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kNow = base::at_ms(0) + hours(100);

Standing waiting(Ticket job, std::int32_t gpus, Duration held = {}) {
    Standing standing;
    standing.job = job;
    standing.gpus = gpus;
    standing.now = kNow;
    standing.held = held;
    return standing;
}

Standing running(Ticket job, std::int32_t gpus, Duration held = {}) {
    Standing standing = waiting(job, gpus, held);
    standing.runs = true;
    standing.first_start = kNow - held;
    return standing;
}

Standing with_left(Standing standing, Duration left) {
    standing.left = left;
    return standing;
}

}  // namespace

TEST_CASE("by arrival nobody is paused, and only strict order blocks") {
    const Arrival strict(Overtaking::None);
    CHECK(strict.rank(running(9, 1)) < strict.rank(waiting(1, 1)));
    CHECK(strict.rank(waiting(1, 1)) == strict.rank(waiting(2, 8)));
    CHECK_FALSE(strict.habits().pauses);
    CHECK(strict.habits().first_blocks);
    CHECK_FALSE(Arrival(Overtaking::WhatFits).habits().first_blocks);
}

TEST_CASE("shortest first counts time, GPU time or GPUs; what is not known is last") {
    const Standing wide = with_left(waiting(0, 8), minutes(1));
    const Standing narrow = with_left(waiting(1, 1), minutes(2));
    const Shortest by_time(Size::TimeLeft);
    const Shortest by_service(Size::ServiceLeft);
    CHECK(by_time.rank(wide) < by_time.rank(narrow));
    CHECK(by_service.rank(narrow) < by_service.rank(wide));
    CHECK(by_time.rank(narrow) < by_time.rank(waiting(2, 1)));
    CHECK(Shortest(Size::Gpus).rank(narrow) < Shortest(Size::Gpus).rank(wide));
}

TEST_CASE("a job goes down a level exactly when its GPU time reaches the threshold") {
    const Levels levels({GpuMs{1000}, GpuMs{3000}}, Inside::Oldest);
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

TEST_CASE("inside a level: running first, then the narrowest; as published by first start") {
    const std::vector<GpuMs> thresholds = geometric_thresholds(minutes(10) / Duration{1}, 8, 3);
    CHECK(thresholds == std::vector<GpuMs>{600'000, 4'800'000, 38'400'000});
    const Levels narrowest(thresholds, Inside::Narrowest);
    CHECK(narrowest.rank(running(5, 8)) < narrowest.rank(waiting(1, 1)));
    CHECK(narrowest.rank(waiting(5, 1)) < narrowest.rank(waiting(1, 2)));
    const Levels oldest(thresholds, Inside::Oldest);
    CHECK(oldest.rank(waiting(5, 1)) == oldest.rank(waiting(1, 2)));  // so the earlier one
    const Levels last(thresholds, Inside::OldestOnLast);
    CHECK(last.rank(waiting(5, 1)) < last.rank(waiting(1, 2)));
    CHECK(last.rank(waiting(5, 1, hours(24))) == last.rank(waiting(1, 2, hours(24))));
    const Levels published(thresholds, Inside::FirstStart);
    Standing paused = waiting(7, 1, seconds(10));
    paused.first_start = kNow - hours(1);
    CHECK(published.rank(paused) < published.rank(running(1, 1, seconds(20))));
    CHECK(published.rank(running(1, 1)) < published.rank(waiting(0, 1)));
}

TEST_CASE("Tiresias as released demotes late, behind those who wait, and then lets it run on") {
    TiresiasReleased order;
    for (const Ticket job : {0, 1, 2}) order.notice(Happening::Submitted, waiting(job, 2));
    CHECK(order.rank(waiting(0, 2)) < order.rank(waiting(1, 2)));
    order.settle(std::vector<Ticket>{0, 1}, {});
    CHECK(order.rank(running(1, 2)) < order.rank(waiting(2, 2)));
    // 3,250 GPU-seconds are 1,625 s of two GPUs, yet at 1,000 s the next look is thought to be
    // (3250 - 1000) / 2 s away.
    CHECK(order.next_change(running(0, 2, seconds(1000))) == kNow + seconds(1125));
    order.notice(Happening::Changed, running(0, 2, seconds(1625)));
    CHECK(order.rank(running(0, 2)).level == 1);
    CHECK(order.rank(waiting(2, 2)) < order.rank(running(0, 2)));
    // Paused from the front it goes before the others who wait.
    order.settle({}, std::vector<Ticket>{1});
    CHECK(order.rank(waiting(1, 2)) < order.rank(waiting(2, 2)));
}

TEST_CASE("Gittins: the cost is the GPU time to spend for the next completion") {
    constexpr GpuMs kMinute = 60'000;
    // Half of the jobs take one minute, half a hundred: first try a minute, 60 s / 0.5.
    const Gittins order({kMinute, 100 * kMinute}, Gittins::Learning::Off, 50);
    CHECK(order.cost(0) == 2 * kMinute);
    // Who passed the minute will take the other 99.
    CHECK(order.cost(kMinute) == 99 * kMinute);
    CHECK(order.rank(running(0, 1)).key == kMinute);
    CHECK(order.rank(waiting(0, 1, minutes(1))) < order.rank(waiting(1, 1, hours(2))));
    CHECK(order.next_change(running(0, 2, seconds(10))) == kNow + seconds(20));
}

TEST_CASE("Gittins learns from finished jobs and says that all have moved") {
    Gittins order({}, Gittins::Learning::FromFinished, 37);
    CHECK(order.cost(0) < order.cost(10'000'000));  // less used first
    for (Ticket job = 0; job < 20; ++job) {
        CHECK_FALSE(order.moved().all);
        order.notice(Happening::Finished, waiting(job, 1, hours(job < 10 ? 1 : 50)));
    }
    CHECK(order.moved().all);
    CHECK_FALSE(order.moved().all);
    // Nearly done by what is known, against nothing done.
    CHECK(order.cost(GpuMs{3'300'000}) < order.cost(0));
}

TEST_CASE("the guard: who waited too long runs once, together at most on their share") {
    constexpr std::int64_t kPatience = 5;
    // Two levels, so that there are jobs that have hardly run.
    Guarded order(std::make_unique<Levels>(std::vector<GpuMs>{60'000}, Inside::Narrowest),
                  {.patience = kPatience, .gpus_at_once = 4});
    for (const Ticket job : {0, 1, 2}) order.notice(Happening::Submitted, waiting(job, 3));
    Standing long_waiting = waiting(0, 3, hours(40));
    long_waiting.in_state = hours(199);
    CHECK(order.next_change(long_waiting) == kNow + hours(1));  // 5 x 40 h
    order.notice(Happening::Changed, long_waiting);
    CHECK(order.moved().jobs.empty());
    long_waiting.in_state = hours(200);
    order.notice(Happening::Changed, long_waiting);
    CHECK(order.moved().jobs == std::vector<Ticket>{0});
    CHECK(order.rank(long_waiting) < order.rank(running(2, 1, hours(1))));
    CHECK(order.rank(waiting(2, 1)) < order.rank(long_waiting));

    // Who hardly ran has ten minutes to its credit; its three GPUs do not fit beside the other
    // three.
    Standing hardly_ran = waiting(1, 3, minutes(1));
    hardly_ran.in_state = minutes(10) * kPatience;
    order.notice(Happening::Changed, hardly_ran);
    CHECK(order.moved().jobs.empty());

    // A twentieth of the forty hours it ran, however often it is interrupted, then the next.
    const Standing again = running(0, 3, hours(41));
    CHECK(order.next_change(again) == kNow + hours(1));
    const Standing done = running(0, 3, hours(42));
    order.notice(Happening::Changed, done);
    CHECK(order.moved().jobs == std::vector<Ticket>{1});
    CHECK(order.rank(hardly_ran) < order.rank(done));
}

TEST_CASE("a job wider than the guard's share gets its run when no other has one") {
    Guarded order(std::make_unique<Levels>(std::vector<GpuMs>{}, Inside::Narrowest),
                  {.patience = 1, .gpus_at_once = 1});
    order.notice(Happening::Submitted, waiting(0, 8));
    Standing wide = waiting(0, 8);
    wide.in_state = hours(1);
    order.notice(Happening::Changed, wide);
    CHECK(order.moved().jobs == std::vector<Ticket>{0});
}

TEST_CASE("the guard by fair ends: who is there too long for what it ran and who else asked runs") {
    Guarded order(std::make_unique<Levels>(std::vector<GpuMs>{60'000}, Inside::Narrowest),
                  {.due = Guarded::Due::ByFairEnd, .patience = 8, .gpus_at_once = 4, .gpus = 4});
    // Twelve GPUs are asked, of four: a fair end is three times later than alone.
    for (const Ticket job : {0, 1, 2, 3}) {
        Standing came = waiting(job, 3);
        came.submitted = came.now;
        order.notice(Happening::Submitted, came);
    }
    const auto after = [](Ticket job, Duration age, Duration held) {
        Standing standing = waiting(job, 3, held);
        standing.submitted = kNow;
        standing.now = kNow + age;
        return standing;
    };
    const Standing early = after(0, hours(71), hours(3));
    CHECK(order.next_change(early) == kNow + hours(72));  // 8 x 3 x 3 h
    order.notice(Happening::Changed, early);
    CHECK(order.moved().jobs.empty());
    const Standing due = after(0, hours(72), hours(3));
    order.notice(Happening::Changed, due);
    CHECK(order.moved().jobs == std::vector<Ticket>{0});
    CHECK(order.rank(due) < order.rank(after(1, hours(72), hours(3))));

    // It runs for an hour; who ran for ten minutes would then get ten.
    Standing granted = after(0, hours(72), hours(3));
    granted.runs = true;
    CHECK(order.next_change(granted) == granted.now + hours(1));
    const Standing small = after(1, hours(72), minutes(10));
    order.notice(Happening::Changed, small);
    granted.held += hours(1);
    order.notice(Happening::Changed, granted);
    CHECK(order.moved().jobs == std::vector<Ticket>{1});
    Standing runs = small;
    runs.runs = true;
    CHECK(order.next_change(runs) == small.now + minutes(10));
}

TEST_CASE("what was used by jobs beyond a step is a part of all GPU time") {
    Ends ends;
    ends.ended(10, 3 * Ends::kJob);
    ends.reached(40, Ends::kJob);  // a thousand times as much
    CHECK(ends.last_percent_begin(0) == size_step_begin(40));
    const auto half = static_cast<double>(ends.last_percent_begin(50));
    CHECK(half == doctest::Approx(0.5 * static_cast<double>(size_step_begin(40))).epsilon(0.26));
    CHECK(ends.last_percent_begin(99) < size_step_begin(20));
    CHECK(Ends{}.last_percent_begin(33) == size_step_begin(1));
}

TEST_CASE("hazards: of those who got to a step, the part that ended in it") {
    constexpr std::size_t kFar = 20;
    Hazards nobody;
    nobody.fill(0);
    Ends ends;
    ends.ended(5, 2 * Ends::kJob);
    ends.ended(7, Ends::kJob);
    ends.reached(6, Ends::kJob);  // still there: it got through the fifth
    const Hazards seen = ends.hazards(nobody, 1);
    CHECK(seen[4] == 0);
    CHECK(seen[5] == doctest::Approx(kSure / 2).epsilon(0.001));
    CHECK(seen[6] == 0);
    CHECK(seen[7] == doctest::Approx(kSure).epsilon(0.001));
    // Where nothing was seen, what is more general; elsewhere as if so many jobs had been seen.
    Hazards some;
    some.fill(kSure / 4);
    const Hazards mixed = ends.hazards(some, 4 * Ends::kJob);
    CHECK(mixed[kFar] == kSure / 4);
    CHECK(mixed[5] == kSure * 3 / 8);  // two of four and one of four
}

TEST_CASE("sizes are told apart by steps of a quarter, above a GPU-minute") {
    CHECK(size_step(59'999) == 0);
    CHECK(size_step(60'000) == 1);
    CHECK(size_step(75'000) == 2);
    CHECK(size_step_begin(2) == 75'000);
    CHECK(size_step(1'000'000'000'000'000'000) == kSizeSteps - 1);
}

TEST_CASE("the cost of a completion: what is left where sizes are known, more where few end") {
    Hazards hazards;
    hazards.fill(0);
    hazards[20] = kSure - 1;
    const auto size = static_cast<double>((size_step_begin(20) + size_step_begin(21)) / 2);
    CHECK(completion_cost(hazards, 0) == doctest::Approx(size).epsilon(0.001));
    CHECK(completion_cost(hazards, 19) ==
          doctest::Approx(size - static_cast<double>(size_step_begin(19))).epsilon(0.001));
    // Every other ends in its first minute: half the others' minute goes on top of its own half.
    hazards[0] = kSure / 2;
    CHECK(completion_cost(hazards, 0) == 30'000 + 60'000);
    CHECK(completion_cost(hazards, 1) > completion_cost(hazards, 0));
}

Standing handed_in(Ticket job, Duration submitted, std::int32_t kin, Duration held = {}) {
    Standing standing = waiting(job, 1, held);
    standing.submitted = base::at_ms(0) + submitted;
    standing.kin = kin;
    return standing;
}

TEST_CASE("kin: those of the same project, user and width, and how far apart they came") {
    Kin kin;
    for (const Ticket job : {0, 1, 2}) kin.submitted(handed_in(job, minutes(job * job), 0));
    kin.submitted(handed_in(3, minutes(4), 1));
    Standing wider = handed_in(4, minutes(4), 0);
    wider.gpus = 2;
    kin.submitted(wider);
    kin.of(0).step = 7;
    const auto near = kin.near(1);
    REQUIRE(near.siblings.size() == 3);
    CHECK(near.self == 1);
    CHECK(near.siblings[0].job == 0);
    CHECK(near.courses[0] == Kin::Course{.step = 7});
    CHECK(near.apart(0) == minutes(1));
    CHECK(near.siblings[2].job == 2);
    CHECK(near.apart(2) == minutes(3));
    CHECK(kin.near(3).siblings.size() == 1);
    CHECK(kin.near(4).siblings.size() == 1);
}

// Jobs handed in by turns by two, a minute apart, all finished: `size` of each by its number.
template <typename Size>
Ticket teach(auto& pupil, int rounds, Size size) {
    Ticket next = 0;
    const auto submit = [&](const Standing& job) {
        if constexpr (requires { pupil.submitted(job); })
            return pupil.submitted(job);
        else
            pupil.notice(Happening::Submitted, job);
    };
    const auto finish = [&](const Standing& job) {
        if constexpr (requires { pupil.finished(job); })
            (void)pupil.finished(job);
        else
            pupil.notice(Happening::Finished, job);
    };
    for (int round = 0; round < rounds; ++round) {
        for (const std::int32_t kin : {0, 1}) {
            submit(handed_in(next, minutes(round), kin));
            finish(handed_in(next, minutes(round), kin, size(next)));
            ++next;
        }
    }
    return next;
}

TEST_CASE("experts: who has proved right counts; kin that are alike are believed, others not") {
    const auto part_that_ends_at = [](Duration held, auto size) {
        Experts experts;
        const Ticket next = teach(experts, 40, size);
        experts.submitted(handed_in(next, minutes(41), 0));
        Opinion opinion = experts.opinion(next);
        opinion.learn(experts.near(next), experts.evidence(next));
        return opinion.hazard(size_step(held.count()));
    };
    const auto by_kin = [](Ticket job) { return job % 2 == 0 ? hours(5) : minutes(5); };
    // Five of ten jobs take five minutes, but none of this one's kin.
    CHECK(part_that_ends_at(minutes(5), by_kin) < kSure / 20);
    CHECK(part_that_ends_at(hours(5), by_kin) > kSure / 2);
    // The same sizes by turns in both families: kin tell nothing.
    const auto by_turns = [](Ticket job) { return job / 2 % 2 == 0 ? hours(5) : minutes(5); };
    CHECK(part_that_ends_at(minutes(5), by_turns) == doctest::Approx(kSure / 2).epsilon(0.25));
}

TEST_CASE("experts: a job that ends concerns its kin that have run and not ended") {
    Experts experts;
    for (const Ticket job : {0, 1, 2}) experts.submitted(handed_in(job, minutes(job), 0));
    CHECK_FALSE(experts.used(handed_in(1, minutes(1), 0, seconds(59))));
    CHECK(experts.used(handed_in(1, minutes(1), 0, minutes(5))));
    CHECK(experts.used(handed_in(0, {}, 0, minutes(10))));
    CHECK(experts.concerned(0) == std::vector<Ticket>{1});
    // What a job does below where another has come tells that one next to nothing.
    CHECK(experts.concerned(1).empty());
    experts.finished(handed_in(1, minutes(1), 0, minutes(20)));
    CHECK(experts.concerned(1) == std::vector<Ticket>{0});
    CHECK(experts.concerned(0).empty());
}

TEST_CASE("experts: a view that learned bit by bit is that which learned all at once") {
    Hazards all, width;
    all.fill(kSure / 10);
    width.fill(kSure / 20);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        INFO(seed);
        base::Rng rng(seed);
        Kin kin;
        for (Ticket job = 0; job < 80; ++job) {
            kin.submitted(handed_in(job, seconds(rng.between(0, 10) * rng.between(0, 10'000)), 0));
        }
        const auto self = static_cast<Ticket>(rng.between(0, 79));
        const Kin::Near near = kin.near(self);
        Views bit_by_bit(all, width);
        for (int round = 0; round < 100; ++round) {
            Kin::Course& course = kin.of(static_cast<Ticket>(rng.between(0, 79)));
            if (course.has_ended) continue;
            course.step = static_cast<std::uint8_t>(rng.between(course.step, kSizeSteps - 1));
            course.has_ended = rng.chance(1, 3);
            if (rng.chance(1, 2)) bit_by_bit.learn(near, near.courses);
        }
        bit_by_bit.learn(near, near.courses);
        Views at_once(all, width);
        at_once.learn(near, near.courses);
        CHECK(bit_by_bit.nearness() == at_once.nearness());
        for (std::size_t step = 0; step < kSizeSteps; ++step) {
            CHECK(bit_by_bit.hazards(step) == at_once.hazards(step));
        }
    }
}

TEST_CASE("experts: an opinion goes by its evidence, whatever happened since") {
    Experts experts;
    for (const Ticket job : {0, 1}) experts.submitted(handed_in(job, minutes(job), 0));
    CHECK(experts.used(handed_in(1, minutes(1), 0, minutes(5))));
    const auto hazard = [&](const Evidence& evidence) {
        Opinion opinion = experts.opinion(0);
        opinion.learn(experts.near(0), evidence);
        return opinion.hazard(size_step(600'000));
    };
    const Evidence early = experts.evidence(0);
    const std::int32_t then = hazard(early);
    CHECK(experts.used(handed_in(1, minutes(1), 0, hours(10))));
    CHECK(hazard(early) == then);
    CHECK(hazard(experts.evidence(0)) < then);
}

TEST_CASE("predicted: after its first minute a job goes by what its kin took") {
    Predicted order;
    const Ticket next =
        teach(order, 40, [](Ticket job) { return job % 2 == 0 ? hours(5) : minutes(5); });
    CHECK(order.moved().all);
    CHECK_FALSE(order.moved().all);
    const Standing long_one = handed_in(next, minutes(41), 0, minutes(2));
    const Standing short_one = handed_in(next + 1, minutes(41), 1, minutes(2));
    for (const Standing& job : {long_one, short_one}) order.notice(Happening::Submitted, job);
    CHECK(order.rank(short_one) < order.rank(long_one));
    // Nearly done by what is known, against hardly begun.
    CHECK(order.rank(handed_in(next, minutes(41), 0, minutes(290))) < order.rank(long_one));
    // Whatever is thought of it: who has hardly run is first.
    CHECK(order.rank(handed_in(next, minutes(41), 0, seconds(59))).level == 0);
    CHECK(order.next_change(running(next, 1, seconds(10))) == kNow + seconds(50));
}

TEST_CASE("predicted, oldest=33: what takes the last third of all GPU time goes by age") {
    Predicted by_age(33);
    Predicted by_cost;
    const auto sizes = [](Ticket job) { return job % 2 == 0 ? hours(job + 1) : minutes(5); };
    const Ticket next = teach(by_age, 40, sizes);
    teach(by_cost, 40, sizes);
    // Two strangers, the older one far ahead of what others took.
    Standing older = handed_in(next, minutes(41), 2, hours(2000));
    Standing younger = handed_in(next + 1, minutes(42), 3, hours(100));
    older.gpus = 2;
    for (Predicted* order : {&by_age, &by_cost}) {
        for (const Standing& job : {older, younger}) order->notice(Happening::Submitted, job);
    }
    CHECK(by_cost.rank(younger) < by_cost.rank(older));
    CHECK(by_age.rank(younger) == by_age.rank(older));  // a tie: the one submitted earlier
    CHECK(by_age.rank(handed_in(next + 1, minutes(42), 3, minutes(2))) < by_age.rank(older));
}

TEST_CASE("predicted: where nothing is known, who has used less is first") {
    Predicted order;
    for (const Ticket job : {0, 1}) order.notice(Happening::Submitted, handed_in(job, {}, job));
    CHECK(order.rank(handed_in(0, {}, 0, hours(1))) < order.rank(handed_in(1, {}, 1, hours(10))));
}

TEST_CASE("predicted: the first of a batch is a pilot for the rest") {
    Predicted order;
    for (const Ticket job : {0, 1, 2}) order.notice(Happening::Submitted, handed_in(job, {}, 0));
    const Standing stranger = handed_in(3, {}, 1, minutes(2));
    order.notice(Happening::Submitted, stranger);
    const Standing sibling = handed_in(1, {}, 0, minutes(2));
    Standing pilot = handed_in(0, {}, 0, hours(10));
    pilot.runs = true;
    Standing begins = sibling;
    begins.runs = true;
    order.notice(Happening::Changed, begins);
    CHECK(order.rank(sibling) == order.rank(stranger));
    CHECK(order.moved().jobs.empty());
    order.notice(Happening::Changed, pilot);
    // Who has not passed its first minute is first anyway.
    CHECK(order.moved().jobs == std::vector<Ticket>{1});
    CHECK(order.rank(stranger) < order.rank(sibling));
}

TEST_CASE("predicted: bounds of a running job are cheap to know, and hold") {
    Predicted order;
    for (const Ticket job : {0, 1}) order.notice(Happening::Submitted, handed_in(job, {}, 0));
    const auto after = [](Duration held) {
        Standing job = handed_in(0, {}, 0, held);
        job.runs = true;
        return job;
    };
    CHECK_FALSE(order.bounds(after(seconds(59))));  // nothing is thought of it yet
    for (Duration held = minutes(1); held < hours(1000); held += held / 7) {
        const Standing job = after(held);
        order.notice(Happening::Changed, job);
        const auto bounds = order.bounds(job);
        REQUIRE(bounds);
        const std::size_t step = size_step(job.attained());
        CHECK(bounds->change == job.when_attained(size_step_begin(step + 1)));
        CHECK(order.next_change(job) >= bounds->change);
        CHECK(order.rank(job) <= bounds->last);
    }
}

TEST_CASE("finish-fair: before its fair end is missed, and before its worst, a job is first") {
    FinishFair order({.gpus = 1});
    const auto after = [](Duration waited, Ticket job, Duration left) {
        Standing standing = with_left(waiting(job, 1), left);
        standing.submitted = kNow;
        standing.now = kNow + waited;
        return standing;
    };
    const Standing short_one = after({}, 0, hours(1));
    const Standing long_one = after({}, 1, hours(2));
    const Standing unknown = waiting(2, 1);
    for (const Standing& job : {short_one, long_one, unknown}) {
        order.notice(Happening::Submitted, job);
    }
    CHECK(order.moved().all);
    CHECK(order.next_change(short_one) == kNow + minutes(5));
    CHECK(order.rank(short_one) < order.rank(long_one));  // the least left
    CHECK(order.rank(long_one) < order.rank(unknown));
    // Three jobs want one GPU: fair are three hours, and at worst 1.78 times that. The other runs.
    const auto is_first_after = [&](Duration waited) {
        Standing other = after(waited, 1, hours(2) - minutes(30));
        other.runs = true;
        order.notice(Happening::Changed, other);
        CHECK(order.moved().all);
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
        for (Ticket job = 0; job < 8; ++job) {
            Standing standing = with_left(waiting(job, 1), hours(job == 0 ? 8 : 1));
            standing.submitted = kNow;
            order.notice(Happening::Submitted, standing);
        }
        CHECK(order.moved().all);
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
    CHECK(order_named("geo8:levels=3:inside=oldest:guard=10:share=25", surroundings));
    CHECK(order_named("predicted:guard=5", surroundings));
    CHECK(order_named("predicted:oldest=33:guard=20:fair=8:fair-share=20", surroundings));
    const auto error_of = [&](std::string_view text) {
        return order_named(text, surroundings).error().message;
    };
    CHECK(error_of("sfr").starts_with("policy \"sfr\" is none of: fifo fjf"));
    CHECK(error_of("geo8:levels=0") ==
          "policy \"geo8:levels=0\": levels: wanted 1 to 12, found \"0\"");
    CHECK(error_of("geo8:inside=x") ==
          "policy \"geo8:inside=x\": inside: wanted first-start or oldest or narrowest or "
          "oldest-on-last, found \"x\"");
    CHECK(error_of("fifo:levels=3") == "policy \"fifo:levels=3\": it has no setting \"levels\"");
    CHECK(error_of("geo8:fast") ==
          "policy \"geo8:fast\": wanted a setting such as levels=4, found \"fast\"");
}

}  // namespace berth::ordering
