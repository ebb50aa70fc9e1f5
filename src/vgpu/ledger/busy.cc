// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/busy.h"

#include <algorithm>

namespace berth::vgpu::ledger {
namespace {

Slot& slot_of(const Place& place) { return place.line->slots[place.slot]; }

// Since when the tenant has had work without end; `now` where it has none.
std::int64_t busy_since(const Place& place, std::int64_t now) {
    const std::uint32_t end = std::min(place.terms->slots_end.load(), kSlotsMax);
    std::int64_t oldest = now;
    for (std::uint32_t slot = 0; slot < end; ++slot)
        if (const std::int64_t since = place.line->slots[slot].busy_since; since != 0)
            oldest = std::min(oldest, since);
    return oldest;
}

}  // namespace

void begin_busy(const Place& place, std::int64_t now) {
    std::int64_t none = 0;
    slot_of(place).busy_since.compare_exchange_strong(none, now);
}

void end_busy(const Place& place, std::int64_t now, std::int64_t since) {
    count_busy(place, now);
    slot_of(place).busy_since = since;
}

void count_busy(const Place& place, std::int64_t now) {
    auto& counted = place.line->counted_until;
    std::int64_t until = counted;
    const std::int64_t since = busy_since(place, now);
    while (since < now && until < now) {
        if (!counted.compare_exchange_weak(until, now)) continue;
        // Unsigned, for words that may be garbage.
        slot_of(place).busy_ns.fetch_add(static_cast<std::uint64_t>(now) -
                                         static_cast<std::uint64_t>(std::max(since, until)));
        return;
    }
}

void count_ahead(const Place& place, std::int64_t now, std::int64_t ns) {
    auto& counted = place.line->counted_until;
    std::int64_t until = counted;
    while (!counted.compare_exchange_weak(until, std::max(until, now) + ns)) {
    }
    slot_of(place).busy_ns.fetch_add(static_cast<std::uint64_t>(ns));
}

}  // namespace berth::vgpu::ledger
