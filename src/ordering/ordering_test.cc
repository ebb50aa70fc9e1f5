// SPDX-License-Identifier: Apache-2.0
//
// Does what is learned of jobs say what its headers promise?
#include <doctest/doctest.h>

#include "base/rng.h"
#include "ordering/experts.h"

namespace berth::ordering {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kBegin = base::at_ms(0);

Kin::Place hand_in(Kin& kin, std::int64_t job, Duration submitted, std::uint64_t family,
                   std::int64_t width = 1000) {
    return kin.submitted(JobId{job}, {family, width}, kBegin + submitted);
}

Places hand_in(Experts& experts, std::int64_t job, Duration submitted, std::uint64_t user,
               std::int64_t width = 1000) {
    return experts.submitted(JobId{job}, {user, 0, 0}, width, kBegin + submitted);
}

std::size_t step_of(Duration gpu_time) { return size_step(gpu_time.count()); }

}  // namespace

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
    Hazards none;
    none.fill(0);
    Ends ends;
    ends.ended(5, 2 * Ends::kJob);
    ends.ended(7, Ends::kJob);
    ends.reached(6, Ends::kJob);  // still there: it got through the fifth
    const Hazards seen = ends.hazards(none, 1);
    CHECK(seen[4] == 0);
    CHECK(seen[5] == doctest::Approx(kSure / 2).epsilon(0.001));
    CHECK(seen[6] == 0);
    CHECK(seen[7] == doctest::Approx(kSure).epsilon(0.001));
    // Where nothing was seen, what is more general; elsewhere as if a number of jobs had been seen.
    Hazards some;
    some.fill(kSure / 4);
    const Hazards mixed = ends.hazards(some, 4 * Ends::kJob);
    CHECK(mixed[kFar] == kSure / 4);
    CHECK(mixed[5] == kSure * 3 / 8);  // two of four and one of four
}

TEST_CASE("sizes differ by steps of a quarter, above a GPU-minute") {
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

TEST_CASE("kin: those of the same project, user and width, and how far apart they came") {
    Kin kin;
    std::vector<Kin::Place> places;
    for (const int job : {0, 1, 2}) places.push_back(hand_in(kin, job, minutes(job * job), 0));
    places.push_back(hand_in(kin, 3, minutes(4), 1));
    places.push_back(hand_in(kin, 4, minutes(4), 0, 2000));
    kin.got_to(places[0], 7);
    const auto near = kin.near(places[1]);
    REQUIRE(near.siblings.size() == 3);
    CHECK(near.self == 1);
    CHECK(near.siblings[0].job == JobId{0});
    CHECK(near.courses[0] == Kin::Course{.step = 7});
    CHECK(near.apart(0) == minutes(1));
    CHECK(near.siblings[2].job == JobId{2});
    CHECK(near.apart(2) == minutes(3));
    CHECK(kin.near(places[3]).siblings.size() == 1);
    CHECK(kin.near(places[4]).siblings.size() == 1);
}

// What is near a job, in words.
std::string near_text(const Kin& kin, const Kin::Place& place) {
    const Kin::Near near = kin.near(place);
    std::string text = std::to_string(near.self);
    for (std::size_t at = 0; at < near.siblings.size(); ++at) {
        text += " " + std::to_string(near.siblings[at].job.value) + ":" +
                std::to_string(near.courses[at].step) + (near.courses[at].has_ended ? "e" : "");
    }
    return text;
}

TEST_CASE("kin: a job far from all that live is forgotten, and no job's kin change by it") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        INFO(seed);
        base::Rng rng(seed);
        Kin kin, all;  // the second keeps one job alive at each 32nd place, and so forgets none
        std::vector<Kin::Place> alive;
        for (std::int64_t job = 0; job < 3000; ++job) {
            const Kin::Place place = hand_in(kin, job, minutes(job), 0);
            CHECK(hand_in(all, job, minutes(job), 0).number == place.number);
            alive.push_back(place);
            if (rng.chance(1, 20)) continue;
            const auto at = static_cast<std::size_t>(rng.between(0, std::ssize(alive) - 1));
            const auto step = static_cast<std::size_t>(rng.between(1, 80));
            kin.ended(alive[at], step);
            if (alive[at].number % 32 != 0)
                all.ended(alive[at], step);
            else
                all.got_to(alive[at], step);
            alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(at));
        }
        model::OrderLedger kept;
        kin.save(kept, 0);
        CHECK(kept.families.front().jobs.size() < 3000);
        for (const Kin::Place& place : alive) {
            const auto without_ends = [&](const Kin& of) {
                std::string text = near_text(of, place);
                std::erase(text, 'e');
                return text;
            };
            CHECK(without_ends(kin) == without_ends(all));
        }
    }
}

TEST_CASE("kin: of families without a job the last are kept") {
    Kin kin;
    const auto old = hand_in(kin, 0, {}, 0);
    for (std::int64_t job = 1; job < 3 * std::ssize(std::array<int, Kin::kFamiliesMax>{}); ++job) {
        kin.ended(hand_in(kin, job, minutes(job), static_cast<std::uint64_t>(job)), 3);
    }
    model::OrderLedger kept;
    kin.save(kept, 0);
    CHECK(kept.families.size() <= Kin::kFamiliesMax);
    CHECK(kin.near(old).siblings.size() == 1);  // it lives
}

// Jobs handed in by turns by two, a minute apart, all ended: `size` of each by its number.
template <typename Size>
std::int64_t teach(Experts& experts, int rounds, Size size) {
    std::int64_t next = 0;
    for (int round = 0; round < rounds; ++round) {
        for (const std::uint64_t kin : {0, 1}) {
            (void)experts.finished(hand_in(experts, next, minutes(round), kin),
                                   step_of(size(next)));
            ++next;
        }
    }
    return next;
}

TEST_CASE("experts: who has proved right counts; kin that are alike are believed, others not") {
    const auto part_that_ends_at = [](Duration held, auto size) {
        Experts experts;
        const std::int64_t next = teach(experts, 40, size);
        const Places place = hand_in(experts, next, minutes(41), 0);
        return experts.opinion(place, experts.belief(place)).hazard(step_of(held));
    };
    const auto by_kin = [](std::int64_t job) -> Duration {
        return job % 2 == 0 ? Duration(hours(5)) : Duration(minutes(5));
    };
    // Five of ten jobs take five minutes, but none of this one's kin.
    CHECK(part_that_ends_at(minutes(5), by_kin) < kSure / 20);
    CHECK(part_that_ends_at(hours(5), by_kin) > kSure / 2);
    // The same sizes by turns in both families: kin tell nothing.
    const auto by_turns = [](std::int64_t job) -> Duration {
        return job / 2 % 2 == 0 ? Duration(hours(5)) : Duration(minutes(5));
    };
    CHECK(part_that_ends_at(minutes(5), by_turns) == doctest::Approx(kSure / 2).epsilon(0.25));
}

TEST_CASE("experts: a job that ends concerns its kin that have run and not ended") {
    Experts experts;
    std::vector<Places> places;
    for (const int job : {0, 1, 2}) places.push_back(hand_in(experts, job, minutes(job), 0));
    CHECK_FALSE(experts.got_to(places[1], step_of(seconds(59))));
    CHECK(experts.got_to(places[1], step_of(minutes(5))));
    CHECK(experts.got_to(places[0], step_of(minutes(10))));
    CHECK(experts.concerned(places[0], Kin::kNear) == std::vector<JobId>{JobId{1}});
    // What a job does below where another has come tells that one next to nothing.
    CHECK(experts.concerned(places[1], Kin::kNear).empty());
    (void)experts.finished(places[1], step_of(minutes(20)));
    CHECK(experts.concerned(places[1], Kin::kNear) == std::vector<JobId>{JobId{0}});
    CHECK(experts.concerned(places[0], Kin::kNear).empty());
}

TEST_CASE("experts: who is taken back before it has used anything tells nothing") {
    Experts experts, without;
    const auto place = hand_in(experts, 0, {}, 0);
    experts.withdrawn(place);
    CHECK(experts.all_ends().all_reached() == without.all_ends().all_reached());
    CHECK(experts.jobs_finished() == 0);
}

TEST_CASE("kin: who was only asked about leaves no family, whose place others would lose") {
    Kin kin;
    kin.withdrawn(hand_in(kin, 0, {}, 0));
    model::OrderLedger kept;
    kin.save(kept, 0);
    CHECK(kept.families.empty());
    const auto one = hand_in(kin, 1, {}, 0);
    kin.withdrawn(hand_in(kin, 2, minutes(1), 0));
    CHECK(kin.near(one).siblings.size() == 2);
}

TEST_CASE("experts: an opinion goes by its belief, whatever happened since") {
    Experts experts;
    const Places first = hand_in(experts, 0, {}, 0);
    const Places second = hand_in(experts, 1, minutes(1), 0);
    CHECK(experts.got_to(second, step_of(minutes(5))));
    const auto hazard = [&](const Belief& belief) {
        return experts.opinion(first, belief).hazard(size_step(600'000));
    };
    const Belief early = experts.belief(first);
    const std::int32_t then = hazard(early);
    CHECK(experts.got_to(second, step_of(hours(10))));
    CHECK(hazard(early) == then);
    CHECK(hazard(experts.belief(first)) < then);
}

TEST_CASE("likeness: users, names that differ in numbers, and what a command runs") {
    const auto are_alike = [](Likeness in, std::array<std::string_view, 4> one,
                              std::array<std::string_view, 4> other) {
        const auto at = static_cast<std::size_t>(in);
        return likenesses_of(one[0], one[1], one[2], one[3])[at] ==
               likenesses_of(other[0], other[1], other[2], other[3])[at];
    };
    const auto same_user = [&](auto one, auto other) {
        return are_alike(Likeness::User, {"vision", one, "", ""}, {"vision", other, "", ""});
    };
    CHECK(same_user("ada", "ada"));
    CHECK_FALSE(same_user("ada", "bob"));
    CHECK_FALSE(are_alike(Likeness::User, {"vision", "ada", "", ""}, {"visio", "nada", "", ""}));

    const auto same_name = [&](auto one, auto other) {
        return are_alike(Likeness::Name, {"vision", "ada", one, ""}, {"vision", "ada", other, ""});
    };
    CHECK(same_name("train-7", "train-12"));
    CHECK(same_name("Train-7", "train-7"));
    CHECK(same_name("eval-3fa2b9c", "eval-01"));
    CHECK_FALSE(same_name("train-7", "eval-7"));
    CHECK_FALSE(same_name("facade", "decade"));  // words, though of hexadecimal digits
    CHECK_FALSE(are_alike(Likeness::Name, {"vision", "ada", "a", ""}, {"vision", "bob", "a", ""}));
    CHECK(likenesses_of("vision", "ada", "", "")[1] == 0);  // like no other

    const auto same_command = [&](auto one, auto other) {
        return are_alike(Likeness::Command, {"vision", "ada", "", one},
                         {"vision", "bob", "", other});
    };
    CHECK(same_command("python train.py --lr 0.1", "python src/train.py --lr 0.2 --seed 7"));
    CHECK(same_command("CUDA_VISIBLE_DEVICES=0 python train.py", "/usr/bin/python train.py"));
    CHECK(same_command("sh -c 'cd src && python train.py'", "sh -c 'python train.py; sync'"));
    CHECK(same_command("torchrun --nproc-per-node 8 train.py a", "torchrun --standalone train.py"));
    CHECK(same_command("python -m trainer --lr 1", "python -m trainer --lr 2"));
    CHECK(same_command("berth-trainer fit --epochs 3", "berth-trainer fit --epochs 90"));
    CHECK_FALSE(same_command("python train.py", "python eval.py"));
    CHECK_FALSE(same_command("python -m trainer", "python -m evaluator"));
    CHECK_FALSE(same_command("berth-trainer fit", "berth-trainer check"));
    CHECK(likenesses_of("vision", "ada", "", "")[2] == 0);
    CHECK(likenesses_of("vision", "ada", "", "A=1 --")[2] != likenesses_of("", "", "", "x")[2]);
}

namespace {

// One user hands in jobs a minute apart, of 10 or of 1,000 GPU-minutes, in random turns; each ends
// before the next comes. What the next would be thought to cost after its first GPU-minute, were it
// of the small ones and were it of the large ones. `alike`: by whether it is a small one.
std::array<GpuMs, 2> costs_after(int jobs, std::uint64_t seed, auto alike) {
    base::Rng rng(seed);
    Experts experts;
    std::int64_t next = 0;
    const auto come = [&](bool is_small) {
        const Duration time = minutes(next);
        return experts.submitted(JobId{next++}, alike(is_small, rng), 1000, kBegin + time);
    };
    for (int job = 0; job < jobs; ++job) {
        const bool is_small = rng.chance(1, 2);
        (void)experts.finished(come(is_small), step_of(minutes(is_small ? 10 : 1000)));
    }
    const auto cost = [&](bool is_small) {
        const Places places = come(is_small);
        (void)experts.got_to(places, 1);
        Opinion opinion = experts.opinion(places, experts.belief(places));
        return completion_cost([&](std::size_t step) { return opinion.hazard(step); }, 1);
    };
    return {cost(true), cost(false)};
}

}  // namespace

TEST_CASE("names and commands: two programs of one user differ after twenty ends of each") {
    constexpr int kSeeds = 100;
    for (const std::size_t by : {1U, 2U}) {  // the name, the command
        INFO(by);
        int right = 0;
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
            const auto [small, large] = costs_after(40, seed, [&](bool is_small, base::Rng&) {
                Likenesses alike{7, 0, 0};
                alike[by] = is_small ? 1 : 2;
                return alike;
            });
            right += large > 10 * small ? 1 : 0;
        }
        CHECK(right >= 95);
    }
}

TEST_CASE("names that tell nothing: all apart they change nothing, shuffled next to nothing") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        INFO(seed);
        const auto without =
            costs_after(200, seed, [](bool, base::Rng&) { return Likenesses{7, 0, 0}; });
        std::uint64_t next = 0;
        const auto apart =
            costs_after(200, seed, [&](bool, base::Rng&) { return Likenesses{7, ++next, ++next}; });
        CHECK(apart == without);
        base::Rng names(seed + 1000);  // others than the sizes are drawn by
        const auto shuffled = costs_after(200, seed, [&](bool, base::Rng&) {
            return Likenesses{7, static_cast<std::uint64_t>(names.between(1, 2)), 0};
        });
        for (const std::size_t at : {0U, 1U}) {
            const double part =
                static_cast<double>(shuffled[at]) / static_cast<double>(without[at]);
            CHECK(part == doctest::Approx(1).epsilon(0.3));
        }
    }
}

}  // namespace berth::ordering
