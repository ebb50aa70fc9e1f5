// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/gate.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace berth::vgpu::ledger {

namespace {

// Reading suffices for a futex: the terms are not ours to write.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value, int timeout_ms) {
    const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &timeout, nullptr, 0);
}

}  // namespace

void wait_for_change(const Membership& membership, std::uint32_t gpu, std::uint32_t word,
                     int timeout_ms) {
    const Place place = membership.place(gpu);
    Slot& slot = place.line->slots[place.slot];
    slot.waiting.fetch_add(1);
    ring(membership, gpu);
    sleep_while(place.terms->gate, word, timeout_ms);
    slot.waiting.fetch_sub(1);
}

void wait_for_room(const Membership& membership, std::uint32_t gpu, std::uint64_t bytes,
                   std::uint32_t answers, int timeout_ms) {
    const Place place = membership.place(gpu);
    Slot& slot = place.line->slots[place.slot];
    slot.asked.fetch_add(bytes);
    ring(membership, gpu);
    sleep_while(place.terms->answers, answers, timeout_ms);
    slot.asked.fetch_sub(bytes);
}

void wait_while_off(const Membership& membership, int timeout_ms) {
    sleep_while(membership.terms->is_off, 1, timeout_ms);
}

Gate wait_at_gate(const Membership& membership, std::uint32_t gpu, int timeout_ms) {
    const auto& gate = membership.place(gpu).terms->gate;
    const std::uint32_t word = gate.load();
    if (gate_of(word) != Gate::closed) return gate_of(word);
    wait_for_change(membership, gpu, word, timeout_ms);
    return gate_of(gate.load());
}

}  // namespace berth::vgpu::ledger
