// SPDX-License-Identifier: Apache-2.0
#include "vgpu/lending/lend.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace berth::vgpu::lending;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Tenant tenant(std::uint64_t request, std::uint64_t burst, std::uint64_t charged) {
    Tenant made;
    made.request = request;
    made.burst = burst;
    made.limit = std::max(request, charged);
    made.charged = charged;
    made.can_leave = true;
    return made;
}

Tenant off(Tenant tenant, std::int64_t since) {
    tenant.where = Where::off;
    tenant.since = since;
    tenant.times = 1;
    return tenant;
}

// A node of tenants that do what they are let; time goes on by a look each.
struct Node {
    std::uint64_t memory = 0;
    std::vector<Tenant> tenants;
    std::int64_t now = 0;

    std::uint64_t on_gpu() const {
        std::uint64_t sum = 0;
        for (const Tenant& tenant : tenants)
            if (tenant.where != Where::off && tenant.where != Where::away) sum += tenant.charged;
        return sum;
    }

    Decisions look() {
        now += 10'000'000;
        const Decisions decisions = lend(memory, tenants, now);
        for (std::size_t i = 0; i < tenants.size(); ++i) {
            Tenant& tenant = tenants[i];
            const Decision& decision = decisions.of[i];
            tenant.limit = decision.limit;
            if (tenant.where != decision.where) tenant.since = now;
            if (decision.where == Where::leaving && tenant.where == Where::here) ++tenant.times;
            tenant.where = decision.where;
            take_asked(tenant);
        }
        return decisions;
    }

    static void take_asked(Tenant& tenant) {
        if (tenant.where != Where::here || tenant.asked == 0) return;
        if (tenant.charged + tenant.asked > tenant.limit) return;
        tenant.charged += tenant.asked;
        tenant.asked = 0;
    }

    // Those who were ordered off leave, those who were let back are there.
    void move() {
        for (Tenant& tenant : tenants) {
            if (tenant.where == Where::leaving) tenant.where = Where::off;
            if (tenant.where == Where::returning) tenant.where = Where::here;
            tenant.since = tenant.where == Where::off && tenant.since == 0 ? now : tenant.since;
        }
    }
};

}  // namespace

TEST_CASE("a borrower has what others do not use, at once where it was promised to none") {
    Node node{24, {tenant(8, 20, 8), tenant(12, 12, 4)}};
    node.tenants[0].asked = 4;
    CHECK_FALSE(node.look().again);
    CHECK(node.tenants[0].charged == 12);
    CHECK(node.tenants[1].limit == 12);
}

TEST_CASE("unused room of an owner is lent: its limit goes down first, then the borrower's up") {
    Node node{24, {tenant(8, 20, 8), tenant(12, 12, 4)}};
    node.tenants[0].asked = 12;
    const Decisions first = node.look();
    CHECK(first.again);
    CHECK_FALSE(first.of[0].is_final);
    CHECK(node.tenants[0].limit == 8);
    CHECK(node.tenants[1].limit == 4);
    node.look();
    CHECK(node.tenants[0].charged == 20);
}

TEST_CASE("no tenant has more than its burst, nor what others hold") {
    Node node{24, {tenant(8, 20, 8), tenant(12, 12, 4)}};
    node.tenants[0].asked = 13;
    CHECK(node.look().of[0].is_final);
    CHECK(node.tenants[0].limit == 8);
    node.tenants[1].charged = 6;
    node.tenants[0].asked = 11;
    CHECK(node.look().of[0].is_final);
    CHECK(node.tenants[0].limit == 8);
}

TEST_CASE("an owner takes back unused borrowed room without anybody having to leave") {
    Node node{24, {tenant(8, 20, 6), tenant(12, 12, 4)}};
    node.tenants[0].limit = 20;
    node.tenants[1].limit = 4;
    node.tenants[1].asked = 8;
    CHECK(node.look().again);
    node.look();
    CHECK(node.tenants[1].charged == 12);
    CHECK(node.tenants[0].where == Where::here);
}

TEST_CASE("a borrower in an owner's way is ordered off, and the owner has its room once it left") {
    Node node{24, {tenant(8, 20, 20), tenant(12, 12, 4)}};
    node.tenants[1].limit = 4;
    node.tenants[1].asked = 6;
    CHECK_FALSE(node.look().of[1].is_final);
    CHECK(node.tenants[0].where == Where::leaving);
    CHECK(node.tenants[1].charged == 4);
    node.look();
    CHECK(node.tenants[1].charged == 4);  // as long as it is there
    node.move();
    node.look();
    CHECK(node.tenants[1].charged == 10);
    CHECK(node.tenants[1].limit == 12);
}

TEST_CASE(
    "of several borrowers the one with the least that suffices leaves, or the largest first") {
    Node node{40, {tenant(4, 30, 16), tenant(4, 30, 12), tenant(16, 16, 12)}};
    node.tenants[2].limit = 12;
    node.tenants[2].asked = 4;
    node.look();
    CHECK(node.tenants[0].where == Where::here);
    CHECK(node.tenants[1].where == Where::leaving);

    Node both{40, {tenant(4, 30, 18), tenant(4, 30, 17), tenant(30, 30, 5)}};
    both.tenants[2].limit = 5;
    both.tenants[2].asked = 20;
    both.look();
    CHECK(both.tenants[0].where == Where::leaving);
    CHECK(both.tenants[1].where == Where::leaving);
}

TEST_CASE("who stays within its request is never ordered off, nor who cannot leave") {
    Node node{24, {tenant(8, 20, 8), tenant(8, 20, 12), tenant(8, 8, 4)}};
    node.tenants[1].can_leave = false;
    node.tenants[2].limit = 4;
    node.tenants[2].asked = 4;
    node.look();
    CHECK(std::ranges::all_of(node.tenants,
                              [](const Tenant& one) { return one.where == Where::here; }));
}

TEST_CASE("no other tenant is ordered off while enough is on its way") {
    Node node{40, {tenant(4, 30, 16), tenant(4, 30, 12), tenant(16, 16, 12)}};
    node.tenants[0].where = Where::leaving;
    node.tenants[2].limit = 12;
    node.tenants[2].asked = 4;
    node.look();
    CHECK(node.tenants[1].where == Where::here);
}

TEST_CASE("who is off comes back when all it held fits, and rests before it does") {
    Node node{24, {off(tenant(8, 20, 20), 0), tenant(12, 12, 10)}};
    node.now = 10 * kSecond;
    node.look();
    CHECK(node.tenants[0].where == Where::off);
    node.tenants[1].charged = 4;
    node.look();  // takes the owner's unused room
    node.look();
    CHECK(node.tenants[0].where == Where::returning);
    CHECK(node.tenants[0].limit == 20);

    Node early{24, {off(tenant(8, 20, 20), 10 * kSecond), tenant(12, 12, 0)}};
    early.now = 10 * kSecond;
    early.look();
    early.look();
    CHECK(early.tenants[0].where == Where::off);
    early.tenants[0].times = 3;
    early.now = 12 * kSecond;
    early.look();
    CHECK(early.tenants[0].where == Where::off);
    early.now = 14 * kSecond;
    early.look();
    early.look();
    CHECK(early.tenants[0].where == Where::returning);
}

TEST_CASE("who is off within its request comes back at once, and borrowers make room for it") {
    Node node{24, {off(tenant(8, 8, 8), 0), tenant(12, 24, 24)}};
    node.look();
    CHECK(node.tenants[0].where == Where::off);
    CHECK(node.tenants[1].where == Where::leaving);
    node.move();
    node.look();
    CHECK(node.tenants[0].where == Where::returning);
}

TEST_CASE(
    "while a tenant waits to come back none borrows more, and one that is away waits for nothing") {
    Node node{24, {off(tenant(4, 20, 20), 0), tenant(4, 20, 4), tenant(4, 4, 4)}};
    node.tenants[1].asked = 2;
    CHECK(node.look().of[1].is_final);
    CHECK(node.tenants[1].charged == 4);
    node.tenants[0].where = Where::away;
    node.look();
    node.look();
    CHECK(node.tenants[1].charged == 6);
    node.look();
    CHECK(node.tenants[0].where == Where::away);
}

TEST_CASE("of those who borrow what only one can have, each has its turn of a minute") {
    Node node{24, {tenant(4, 20, 18), off(tenant(4, 20, 17), 0), off(tenant(4, 20, 16), kSecond)}};
    const auto here = [&] {
        return std::ranges::find(node.tenants, Where::here, &Tenant::where) - node.tenants.begin();
    };
    std::vector<std::ptrdiff_t> turns;
    while (node.now < 600 * kSecond) {
        node.look();
        node.move();
        REQUIRE(node.on_gpu() <= node.memory);
        if (here() < 3 && (turns.empty() || turns.back() != here())) turns.push_back(here());
        node.now += kSecond / 2;
    }
    REQUIRE(turns.size() >= 8);
    for (std::size_t turn = 0; turn < turns.size(); ++turn)
        CHECK(turns[turn] == static_cast<std::ptrdiff_t>(turn % 3));
}

TEST_CASE(
    "a turn ends only for a tenant that it helps, after a minute, never for what was promised") {
    const auto leaves = [](const Tenant& holder, const Tenant& waiting, std::int64_t now) {
        Node node{24, {holder, waiting}};
        node.now = now;
        node.look();
        return node.tenants[0].where == Where::leaving;
    };
    const Tenant holder = tenant(4, 20, 18);
    CHECK(leaves(holder, off(tenant(4, 20, 17), 0), 61 * kSecond));
    CHECK_FALSE(leaves(holder, off(tenant(4, 20, 17), 0), 59 * kSecond));
    CHECK_FALSE(leaves(holder, off(tenant(4, 20, 17), 30 * kSecond), 61 * kSecond));
    CHECK_FALSE(leaves(holder, off(tenant(4, 30, 25), 0), 61 * kSecond));
    CHECK_FALSE(leaves(tenant(18, 20, 18), off(tenant(4, 20, 17), 0), 61 * kSecond));
    Tenant rooted = holder;
    rooted.can_leave = false;
    CHECK_FALSE(leaves(rooted, off(tenant(4, 20, 17), 0), 61 * kSecond));
    Tenant newcomer = holder;
    newcomer.since = 30 * kSecond;
    CHECK_FALSE(leaves(newcomer, off(tenant(4, 20, 17), 0), 61 * kSecond));
}

TEST_CASE("who is charged past the memory, as after a restart, leaves others what is there") {
    Node node{24, {tenant(8, 20, 20), tenant(12, 12, 0)}};
    CHECK(node.look().again);
    CHECK(node.tenants[1].limit == 4);
    CHECK(node.tenants[0].where == Where::here);
}

TEST_CASE("no sum is ever above the memory, and an owner that asks is served") {
    for (unsigned int seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        std::mt19937 dice(seed);
        const auto upto = [&](std::uint64_t most) { return dice() % (most + 1); };
        Node node{100, {}};
        std::uint64_t promised = 0;
        while (promised < 90) {
            const std::uint64_t request = std::min<std::uint64_t>(5 + upto(30), 100 - promised);
            promised += request;
            node.tenants.push_back(tenant(request, request + upto(100 - request), 0));
        }
        std::vector<int> waited(node.tenants.size());
        for (int step = 0; step < 400; ++step) {
            for (std::size_t i = 0; i < node.tenants.size(); ++i) {
                Tenant& one = node.tenants[i];
                if (one.where != Where::here) continue;
                if (one.asked == 0 && upto(3) == 0) one.asked = 1 + upto(20);
                if (one.asked == 0 && upto(3) == 0) one.charged -= upto(one.charged);
                // Processes that ask the arbiter nothing have some of it.
                if (one.charged < one.limit && upto(2) == 0) ++one.charged;
                if (one.charged + one.asked > one.request && upto(2) == 0) one.asked = 0;
            }
            const Decisions decisions = node.look();
            REQUIRE(node.on_gpu() <= node.memory);
            for (std::size_t i = 0; i < node.tenants.size(); ++i) {
                Tenant& one = node.tenants[i];
                const bool owns = one.charged + one.asked <= one.request;
                if (decisions.of[i].is_final && !owns) one.asked = 0;
                if (one.where == Where::leaving && upto(2) == 0) one.where = Where::off;
                if (one.where == Where::returning && upto(2) == 0) one.where = Where::here;
                waited[i] = one.where == Where::here && one.asked > 0 && owns ? waited[i] + 1 : 0;
                REQUIRE(waited[i] < 60);
            }
            REQUIRE(node.on_gpu() <= node.memory);
        }
    }
}
