// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "vgpu/ledger/tenant.h"

using namespace berth::vgpu::ledger;
using vgpu::Tenant;

namespace {

constexpr std::uint32_t kProcesses = 8;
constexpr std::uint32_t kCrowd = 64;
constexpr std::uint64_t kLimit = 1000;

void pause_us(long us) {
    const timespec pause{0, us * 1000};
    ::nanosleep(&pause, nullptr);
}

// Everybody stands still; then what they hold is within the limit and within what is charged.
void check_stopped(const Tenant& tenant, const std::vector<pid_t>& children) {
    for (const pid_t child : children) ::kill(child, SIGSTOP);
    for (const pid_t child : children) {
        int status = 0;
        REQUIRE(::waitpid(child, &status, WUNTRACED) == child);
        REQUIRE(WIFSTOPPED(status));
    }
    std::uint64_t held = 0;
    for (std::uint32_t slot = 0; slot < children.size(); ++slot) {
        const std::uint64_t mine = tenant.truth().held[slot];
        CHECK(tenant.place(slot).line->slots[slot].charged >= mine);
        held += mine;
    }
    CHECK(held <= kLimit);
    for (const pid_t child : children) ::kill(child, SIGCONT);
}

}  // namespace

TEST_CASE("killed at any passage of a charge, a process leaves one word and blocks no other") {
    for (const std::string passage : {"published", "taken-back", "in-turn", "in-turn-published",
                                      "in-turn-decided", "given-back"}) {
        CAPTURE(passage);
        const Tenant tenant(kLimit, kProcesses);
        int deaths = 0;
        for (int round = 0; round < 40; ++round) {
            std::vector<pid_t> children;
            for (std::uint32_t slot = 0; slot < kProcesses; ++slot)
                children.push_back(tenant.start([&, slot, round] {
                    if (slot % 2 == 0) vgpu::die_at(passage, 1 + round * 3);
                    live(tenant, slot, slot + static_cast<std::uint32_t>(round) * 100U, 600);
                }));
            for (std::uint32_t ended = 0; ended < kProcesses; ++ended) {
                int status = 0;
                const auto child = std::ranges::find(children, ::waitpid(-1, &status, 0));
                REQUIRE(child != children.end());
                if (!WIFSIGNALED(status)) continue;
                CHECK(WTERMSIG(status) == SIGKILL);
                ++deaths;
                tenant.bury(static_cast<std::uint32_t>(child - children.begin()));
            }
        }
        CHECK(deaths > 40);
        CHECK(tenant.truth().high_water <= kLimit);
        CHECK(tenant.truth().used == 0);
        CHECK(tenant.charged() == 0);
        CHECK(charge(tenant.place(0), kLimit));  // all of it is there again
    }
}

TEST_CASE("killed at any instruction, 64 processes leave no drift and never pass the limit") {
    const Tenant tenant(kLimit, kCrowd);
    std::uint64_t seed = 1;
    const auto start = [&](std::uint32_t slot) {
        return tenant.start([&tenant, slot, seed] { live(tenant, slot, seed, 1'000'000'000); });
    };
    std::vector<pid_t> children;
    for (std::uint32_t slot = 0; slot < kCrowd; ++slot) children.push_back(start(slot));
    for (int kill = 0; kill < 1500; ++kill) {
        const auto slot = static_cast<std::uint32_t>(seed * 2654435761U >> 7) % kCrowd;
        ++seed;
        ::kill(children[slot], SIGKILL);
        REQUIRE(::waitpid(children[slot], nullptr, 0) == children[slot]);
        tenant.truth().held[slot] = 0;
        tenant.bury(slot);
        children[slot] = start(slot);
        pause_us(300);
        if (kill % 50 == 0) check_stopped(tenant, children);
    }
    for (std::uint32_t slot = 0; slot < kCrowd; ++slot) {
        ::kill(children[slot], SIGKILL);
        REQUIRE(::waitpid(children[slot], nullptr, 0) == children[slot]);
        tenant.bury(slot);
    }
    CHECK(tenant.charged() == 0);
    CHECK(charge(tenant.place(0), kLimit));
}
