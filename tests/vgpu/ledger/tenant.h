// SPDX-License-Identifier: Apache-2.0
//
// A tenant whose processes are forked by the test. Beside the account stands what is true: bytes
// that processes really hold, with their high-water mark taken atomically.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "vgpu/ledger/charge.h"

namespace vgpu {

// What the GPU would say.
struct Truth {
    std::atomic<std::uint64_t> used;
    std::atomic<std::uint64_t> high_water;
    std::atomic<std::uint64_t> granted;  // requests
    std::atomic<std::uint64_t> refused;
    std::atomic<std::uint32_t> ready;  // processes that may begin
    std::atomic<std::uint64_t> held[berth::vgpu::ledger::kSlotsMax];  // by slot
};

class Tenant {
  public:
    Tenant(std::uint64_t limit, std::uint32_t slots);
    Tenant(const Tenant&) = delete;
    Tenant& operator=(const Tenant&) = delete;
    ~Tenant();

    berth::vgpu::ledger::Place place(std::uint32_t slot) const;
    std::uint64_t charged() const { return berth::vgpu::ledger::charged(place(0)); }
    Truth& truth() const { return *truth_; }
    berth::vgpu::ledger::Terms& terms() const { return *terms_; }

    // Runs `life` in a child that then exits with 0.
    pid_t start(const std::function<void()>& life) const;
    // What the arbiter does with the slot of a dead process.
    void bury(std::uint32_t slot) const;

    // A process's view: charge and hold, or be refused; let go and give back.
    bool hold(std::uint32_t slot, std::uint64_t bytes) const;
    void let_go(std::uint32_t slot, std::uint64_t bytes) const;

  private:
    berth::vgpu::ledger::Account* account_ = nullptr;
    berth::vgpu::ledger::Terms* terms_ = nullptr;
    Truth* truth_ = nullptr;
};

// Random holding and letting go, `rounds` times, ends holding nothing.
void live(const Tenant& tenant, std::uint32_t slot, std::uint64_t seed, int rounds);

// The calling process dies at its count-th passage of `name`.
void die_at(std::string name, int count);
// Something else happens at the next passage of `name`.
void once_at(std::string name, std::function<void()> happens);

}  // namespace vgpu
