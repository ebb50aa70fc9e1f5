// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/tenants/profile.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>

#include "vgpu/ledger/terms.h"

using namespace berth::vgpu;
using arbiter::Profiler;
using Phase = Profiler::Phase;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kGiB = 1ULL << 30U;

// A process that has made `count` iterations of 10 ms, half of each with work on the GPU.
void iterate(ledger::Slot& words, std::uint64_t count) {
    words.launches = 100;
    words.iterations += count;
    words.timed_iterations += count;
    words.timed_ns += count * 10 * kMillisecond;
    words.busy_ns += count * 5 * kMillisecond;
}

}  // namespace

TEST_CASE("a profile is what iterations took: length, launches, memory, part of the GPU's time") {
    auto words = std::make_unique<ledger::Slot>();
    Profiler profiler;
    profiler.look(0, *words, Phase::alone);
    CHECK_FALSE(profiler.measures(kSecond));
    words->persistent = 2 * kGiB;
    words->peak = 3 * kGiB;
    words->highest = 4 * kGiB;
    iterate(*words, 20);
    profiler.look(0, *words, Phase::alone);
    CHECK(profiler.profile().device_share == -1);  // nothing was gated
    iterate(*words, 20);
    profiler.look(0, *words, Phase::measured);
    CHECK(profiler.profile().iterations == 40);
    CHECK(profiler.profile().iteration_ns == 10 * kMillisecond);
    CHECK(profiler.profile().launches == 100);
    CHECK(profiler.profile().persistent == 2 * kGiB);
    CHECK(profiler.profile().peak == 3 * kGiB);
    CHECK(profiler.profile().highest == 4 * kGiB);
    CHECK(profiler.profile().device_share == 500);
}

TEST_CASE("who is alone is measured for thirty iterations, and again a minute later") {
    auto words = std::make_unique<ledger::Slot>();
    Profiler profiler;
    iterate(*words, 1);
    profiler.look(0, *words, Phase::alone);
    CHECK(profiler.measures(kSecond));
    iterate(*words, 29);
    profiler.look(0, *words, Phase::measured);
    CHECK(profiler.measures(kSecond + 1));
    iterate(*words, 1);
    profiler.look(0, *words, Phase::measured);
    CHECK_FALSE(profiler.measures(kSecond + 2));
    CHECK_FALSE(profiler.measures(60 * kSecond));
    CHECK(profiler.measures(profiler.measures_next()));
}

TEST_CASE("iterations of another kind are measured anew: layers may be taken for steps at first") {
    auto words = std::make_unique<ledger::Slot>();
    Profiler profiler;
    iterate(*words, 1);
    profiler.look(0, *words, Phase::alone);
    CHECK(profiler.measures(kSecond));
    iterate(*words, 40);
    profiler.look(0, *words, Phase::measured);
    CHECK_FALSE(profiler.measures(kSecond + 1));
    iterate(*words, 1);
    words->launches = 2000;
    profiler.look(0, *words, Phase::alone);
    CHECK(profiler.measures(kSecond + 2));
}

TEST_CASE("what layers that were taken for steps kept is not what the steps keep") {
    auto words = std::make_unique<ledger::Slot>();
    Profiler profiler;
    words->persistent = words->peak = words->highest = 3 * kGiB;
    iterate(*words, 1);
    profiler.look(0, *words, Phase::alone);
    CHECK(profiler.profile().persistent == 3 * kGiB);
    words->persistent = 2 * kGiB;
    iterate(*words, 20);
    words->launches = 2000;
    profiler.look(0, *words, Phase::alone);
    profiler.forget(0);
    CHECK(profiler.profile().persistent == 2 * kGiB);
    CHECK(profiler.profile().peak == 3 * kGiB);
}

TEST_CASE("measuring ends after two seconds and eight iterations, or after half a minute") {
    for (const std::uint64_t iterations : {20U, 8U, 7U, 0U}) {
        CAPTURE(iterations);
        auto words = std::make_unique<ledger::Slot>();
        Profiler profiler;
        iterate(*words, 1);
        profiler.look(0, *words, Phase::alone);
        CHECK(profiler.measures(kSecond));
        iterate(*words, iterations);
        profiler.look(0, *words, Phase::measured);
        CHECK(profiler.measures(2 * kSecond));
        CHECK(profiler.measures(3 * kSecond) == (iterations < 8));
        CHECK((profiler.profile().device_share == 500) == (iterations >= 8));
        CHECK_FALSE(profiler.measures(31 * kSecond));
    }
}

TEST_CASE("lengths of when a tenant was alone count more than those of when it was not") {
    auto words = std::make_unique<ledger::Slot>();
    Profiler profiler;
    profiler.look(0, *words, Phase::contended);
    iterate(*words, 10);
    words->timed_ns += 100 * kMillisecond;  // slower, beside others
    profiler.look(0, *words, Phase::contended);
    CHECK(profiler.profile().iteration_ns == 20 * kMillisecond);
    CHECK(profiler.profile().device_share == 250);
    iterate(*words, 10);
    profiler.look(0, *words, Phase::measured);
    CHECK(profiler.profile().iteration_ns == 10 * kMillisecond);
    CHECK(profiler.profile().device_share == 500);
}

TEST_CASE("several processes need the memory and the time of all, and leave their profile") {
    auto one = std::make_unique<ledger::Slot>();
    auto other = std::make_unique<ledger::Slot>();
    Profiler profiler;
    for (ledger::Slot* words : {one.get(), other.get()}) {
        words->persistent = kGiB;
        words->peak = words->highest = 2 * kGiB;
    }
    one->busy_ns = 0;
    iterate(*one, 20);
    iterate(*other, 10);
    profiler.look(0, *one, Phase::measured);
    profiler.look(1, *other, Phase::measured);
    CHECK(profiler.profile().persistent == 2 * kGiB);
    CHECK(profiler.profile().highest == 4 * kGiB);
    CHECK(profiler.profile().device_share == 1000);
    profiler.forget(0);
    profiler.forget(1);
    CHECK(profiler.profile().iterations == 30);
    CHECK(profiler.profile().persistent == 2 * kGiB);
    CHECK(profiler.profile().device_share == 1000);
}

TEST_CASE("garbage is bounded and overflows nothing") {
    std::mt19937_64 dice(3);
    auto words = std::make_unique<ledger::Slot>();
    Profiler profiler;
    for (int round = 0; round < 20'000; ++round) {
        for (auto* word : {&words->iterations, &words->timed_iterations, &words->timed_ns,
                           &words->busy_ns, &words->persistent, &words->peak, &words->highest})
            word->store(dice() >> dice() % 64);
        words->launches = static_cast<std::uint32_t>(dice() % 2);
        profiler.look(static_cast<std::uint32_t>(dice() % 512), *words,
                      static_cast<Phase>(dice() % 3));
        profiler.measures(round * kSecond);
        const arbiter::Profile& profile = profiler.profile();
        REQUIRE(profile.device_share >= -1);
        REQUIRE(profile.device_share <= 1000);
        REQUIRE(profile.iteration_ns >= 0);
        REQUIRE(profile.highest <= 512 * ledger::kNoLimit);
    }
}
