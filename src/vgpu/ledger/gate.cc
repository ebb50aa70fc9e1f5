// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/gate.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace berth::vgpu::ledger {

Gate wait_at_gate(const Membership& membership, std::uint32_t gpu, int timeout_ms) {
    const Place place = membership.place(gpu);
    const auto& gate = place.terms->gate;
    std::uint32_t word = gate.load();
    if (gate_of(word) != Gate::closed) return gate_of(word);
    Slot& slot = place.line->slots[place.slot];
    slot.waiting.fetch_add(1);
    ring(membership, gpu);
    const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000};
    // Reading suffices for a futex: the terms are not ours to write.
    ::syscall(SYS_futex, &gate, FUTEX_WAIT, word, &timeout, nullptr, 0);
    slot.waiting.fetch_sub(1);
    return gate_of(gate.load());
}

}  // namespace berth::vgpu::ledger
