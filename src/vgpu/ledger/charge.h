// SPDX-License-Identifier: Apache-2.0
//
// May this process have `bytes` more of a GPU? Publish, then check: it first adds them to its own
// slot and then sums the slots of the tenant. Of two who ask at once at least one sees the other,
// so the sum of what was granted is never above the limit. Who finds the sum too large takes its
// bytes back and asks again in turn, so that two who could not both have the room do not both go
// away without it. In turn it waits only for those who ask out of turn.
//
// Costs three atomic additions and one read for each process of the tenant; in turn, a robust
// mutex. A dead process is charged until the arbiter sets its word to zero; nothing else is ever
// repaired.
#pragma once

#include <cstdint>

#include "vgpu/ledger/account.h"
#include "vgpu/ledger/terms.h"

namespace berth::vgpu::ledger {

// Where a process stands with one GPU.
struct Place {
    Line* line = nullptr;
    const GpuTerms* terms = nullptr;
    std::uint32_t slot = 0;
};

// True when the bytes are charged; then they are given back once they are free again. While
// processes come back to a restarted arbiter it waits, for five seconds at most.
[[nodiscard]] bool charge(const Place& place, std::uint64_t bytes);

// For what exists already and cannot be refused: a context, or what a process brings along.
void charge_regardless(const Place& place, std::uint64_t bytes);

// After a charge: keeps the highest. At least `before`, which is what it was on another seat.
void note_high(const Place& place, std::uint64_t before = 0);
// Never lowers it.
void raise(std::atomic<std::uint64_t>& word, std::uint64_t value);

void give_back(const Place& place, std::uint64_t bytes);

// What all processes of the tenant are charged now, and what they hold uncounted. Never less than
// what they were granted.
std::uint64_t charged(const Place& place);

// Makes a line usable. Once, before anybody else sees it; false with errno set when it cannot be.
bool prepare(Line& line);

}  // namespace berth::vgpu::ledger
