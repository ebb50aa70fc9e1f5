// SPDX-License-Identifier: Apache-2.0
//
// May this process launch work on a GPU now? A waiter sleeps in the kernel and is woken by the
// arbiter's next change of the gate.
#pragma once

#include "vgpu/ledger/admission.h"

namespace berth::vgpu::ledger {

inline Gate gate(const Place& place) { return gate_of(place.terms->gate.load()); }

// Counts the caller as waiting, rings, and sleeps while the gate's word is this one, timeout_ms at
// most.
void wait_for_change(const Membership& membership, std::uint32_t gpu, std::uint32_t word,
                     int timeout_ms);

// The same for `bytes` more than its limit allows, until the arbiter has decided about that:
// while `answers` of the terms is this number.
void wait_for_room(const Membership& membership, std::uint32_t gpu, std::uint64_t bytes,
                   std::uint32_t answers, int timeout_ms);

// While the tenant is off its GPUs, timeout_ms at most.
void wait_while_off(const Membership& membership, int timeout_ms);

// Waits for a change while the gate is closed.
// Returns what the gate is then.
Gate wait_at_gate(const Membership& membership, std::uint32_t gpu, int timeout_ms);

}  // namespace berth::vgpu::ledger
