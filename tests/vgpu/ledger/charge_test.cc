// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>

#include <set>
#include <vector>

#include "vgpu/ledger/tenant.h"

using namespace berth::vgpu::ledger;
using vgpu::Tenant;

namespace {

bool ended_well(pid_t child) {
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

double seconds_now() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

TEST_CASE("a limit is reached to the byte and not passed") {
    const Tenant tenant(1000, 2);
    CHECK(charge(tenant.place(0), 600));
    CHECK_FALSE(charge(tenant.place(1), 401));
    CHECK(charge(tenant.place(1), 400));
    CHECK_FALSE(charge(tenant.place(0), 1));
    CHECK(tenant.charged() == 1000);
    give_back(tenant.place(0), 600);
    CHECK(charge(tenant.place(1), 600));
    CHECK(tenant.charged() == 1000);
}

TEST_CASE("a request that no sum could hold is refused and charges nothing") {
    const Tenant tenant(1000, 1);
    CHECK_FALSE(charge(tenant.place(0), ~std::uint64_t{0}));
    CHECK_FALSE(charge(tenant.place(0), 1001));
    CHECK(tenant.charged() == 0);
}

TEST_CASE("a limit lowered below what is used refuses growth until enough is free") {
    const Tenant tenant(1000, 1);
    REQUIRE(charge(tenant.place(0), 800));
    tenant.terms().gpus[0].limit_bytes = 500;
    CHECK_FALSE(charge(tenant.place(0), 1));
    give_back(tenant.place(0), 400);
    CHECK(charge(tenant.place(0), 100));
    CHECK_FALSE(charge(tenant.place(0), 1));
}

TEST_CASE("what exists already is charged past the limit") {
    const Tenant tenant(100, 1);
    charge_regardless(tenant.place(0), 300);
    CHECK(tenant.charged() == 300);
    CHECK_FALSE(charge(tenant.place(0), 1));
}

TEST_CASE("while processes come back none grows, afterwards at once") {
    const Tenant tenant(100, 1);
    tenant.terms().gpus[0].settling = 1;
    const pid_t child = tenant.start([&] {
        const double before = seconds_now();
        if (!tenant.hold(0, 10) || seconds_now() - before < 0.05) ::_exit(1);
    });
    const timespec pause{0, 100'000'000};
    ::nanosleep(&pause, nullptr);
    CHECK(tenant.truth().granted == 0);
    tenant.terms().gpus[0].settling = 0;
    CHECK(ended_well(child));
    CHECK(tenant.truth().granted == 1);
}

TEST_CASE("of processes that fight at the limit none ever passes it, and nothing drifts") {
    const Tenant tenant(1000, 12);
    std::vector<pid_t> children;
    for (std::uint32_t slot = 0; slot < 12; ++slot)
        children.push_back(tenant.start([&, slot] {
            ++tenant.truth().ready;
            while (tenant.truth().ready < 12) ::sched_yield();
            live(tenant, slot, slot + 77, 1000);
        }));
    for (const pid_t child : children) CHECK(ended_well(child));
    CHECK(tenant.truth().high_water <= 1000);
    CHECK(tenant.truth().high_water > 900);  // it was a fight
    CHECK(tenant.truth().refused > 100);
    CHECK(tenant.truth().used == 0);
    CHECK(tenant.charged() == 0);
}

TEST_CASE("who asks between the two steps of another's charge never makes the sum pass the limit") {
    for (const std::uint64_t first : {60UL, 100UL, 101UL}) {
        for (const std::uint64_t second : {40UL, 41UL, 60UL, 100UL}) {
            CAPTURE(first);
            CAPTURE(second);
            const Tenant tenant(100, 2);
            bool second_has_it = false;
            vgpu::once_at("published", [&] { second_has_it = charge(tenant.place(1), second); });
            const bool first_has_it = charge(tenant.place(0), first);
            vgpu::once_at("", {});
            const std::uint64_t granted = (first_has_it ? first : 0) + (second_has_it ? second : 0);
            CHECK(granted <= 100);
            CHECK(tenant.charged() == granted);
            if (first <= 100) CHECK((first_has_it || second_has_it));
        }
    }
}

TEST_CASE("a refusal waits only for those that ask at the same time") {
    const Tenant tenant(100, 2);
    bool has_waited = false;
    const auto asks_for_too_much = [&] {
        vgpu::once_at("in-turn-again", [&] { has_waited = true; });
        CHECK_FALSE(charge(tenant.place(1), 60));
    };
    REQUIRE(charge(tenant.place(1), 50));
    asks_for_too_much();
    CHECK_FALSE(has_waited);
    vgpu::once_at("published", asks_for_too_much);
    CHECK(charge(tenant.place(0), 40));
    CHECK(has_waited);
}

TEST_CASE("two who race for room that only one can have: exactly one gets it") {
    for (int round = 0; round < 200; ++round) {
        const Tenant tenant(100, 2);
        const pid_t one = tenant.start([&] { tenant.hold(0, 60); });
        const pid_t other = tenant.start([&] { tenant.hold(1, 60); });
        REQUIRE(ended_well(one));
        REQUIRE(ended_well(other));
        REQUIRE(tenant.truth().granted == 1);
        REQUIRE(tenant.charged() == 60);
    }
}

TEST_CASE("three hundred processes at once share one limit") {
    const Tenant tenant(3000, 300);
    std::vector<pid_t> children;
    for (std::uint32_t slot = 0; slot < 300; ++slot)
        children.push_back(tenant.start([&, slot] { live(tenant, slot, slot + 5, 40); }));
    for (const pid_t child : children) CHECK(ended_well(child));
    CHECK(tenant.truth().high_water <= 3000);
    CHECK(tenant.truth().granted > 300);
    CHECK(tenant.charged() == 0);
}
