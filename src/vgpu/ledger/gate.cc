// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/gate.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace berth::vgpu::ledger {

void wait_for_change(const Membership& membership, std::uint32_t gpu, std::uint32_t word,
                     int timeout_ms) {
    const Place place = membership.place(gpu);
    Slot& slot = place.line->slots[place.slot];
    slot.waiting.fetch_add(1);
    ring(membership, gpu);
    const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000};
    // Reading suffices for a futex: the terms are not ours to write.
    ::syscall(SYS_futex, &place.terms->gate, FUTEX_WAIT, word, &timeout, nullptr, 0);
    slot.waiting.fetch_sub(1);
}

Gate wait_at_gate(const Membership& membership, std::uint32_t gpu, int timeout_ms) {
    const auto& gate = membership.place(gpu).terms->gate;
    const std::uint32_t word = gate.load();
    if (gate_of(word) != Gate::closed) return gate_of(word);
    wait_for_change(membership, gpu, word, timeout_ms);
    return gate_of(gate.load());
}

}  // namespace berth::vgpu::ledger
