// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/tenant.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "vgpu/ledger/crash_point.h"

using namespace berth::vgpu::ledger;

namespace {

std::string death_place;
int death_count = 0;
std::string event_place;
std::function<void()> event;

template <class T>
T* shared() {
    void* at =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    return static_cast<T*>(at);
}

}  // namespace

void berth::vgpu::ledger::passage(const char* name) {
    if (death_count > 0 && death_place == name && --death_count == 0) ::kill(::getpid(), SIGKILL);
    if (event && event_place == name) std::exchange(event, nullptr)();
}

namespace vgpu {

void die_at(std::string name, int count) {
    death_place = std::move(name);
    death_count = count;
}

void once_at(std::string name, std::function<void()> happens) {
    event_place = std::move(name);
    event = std::move(happens);
}

Tenant::Tenant(std::uint64_t limit, std::uint32_t slots)
    : account_(shared<Account>()), terms_(shared<Terms>()), truth_(shared<Truth>()) {
    REQUIRE(prepare(account_->lines[0]));
    terms_->gpus[0].limit_bytes = limit;
    terms_->gpus[0].slots_end = slots;
}

Tenant::~Tenant() {
    ::munmap(account_, sizeof(Account));
    ::munmap(terms_, sizeof(Terms));
    ::munmap(truth_, sizeof(Truth));
}

Place Tenant::place(std::uint32_t slot) const {
    return {&account_->lines[0], &terms_->gpus[0], slot};
}

pid_t Tenant::start(const std::function<void()>& life) const {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        life();
        ::_exit(0);
    }
    return child;
}

void Tenant::bury(std::uint32_t slot) const {
    truth_->used.fetch_sub(truth_->held[slot].exchange(0));  // the driver frees first
    account_->lines[0].slots[slot].charged.store(0);
    account_->lines[0].slots[slot].asking.store(0);
}

bool Tenant::hold(std::uint32_t slot, std::uint64_t bytes) const {
    if (!charge(place(slot), bytes)) {
        ++truth_->refused;
        return false;
    }
    truth_->held[slot].fetch_add(bytes);
    const std::uint64_t used = truth_->used.fetch_add(bytes) + bytes;
    std::uint64_t high = truth_->high_water.load();
    while (used > high && !truth_->high_water.compare_exchange_weak(high, used)) {
    }
    ++truth_->granted;
    return true;
}

void Tenant::let_go(std::uint32_t slot, std::uint64_t bytes) const {
    truth_->used.fetch_sub(bytes);
    truth_->held[slot].fetch_sub(bytes);
    give_back(place(slot), bytes);
}

void live(const Tenant& tenant, std::uint32_t slot, std::uint64_t seed, int rounds) {
    std::vector<std::uint64_t> blocks;
    std::uint64_t state = seed * 2 + 1;
    for (int round = 0; round < rounds; ++round) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto dice = static_cast<std::uint32_t>(state >> 33);
        if (dice % 3 != 0 || blocks.empty()) {
            const std::uint64_t bytes = 1 + dice / 3 % 200;
            if (tenant.hold(slot, bytes)) blocks.push_back(bytes);
        } else {
            tenant.let_go(slot, blocks.back());
            blocks.pop_back();
        }
    }
    for (const std::uint64_t bytes : blocks) tenant.let_go(slot, bytes);
}

}  // namespace vgpu
