// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/tenants/time_used.h"

#include <algorithm>
#include <utility>

#include "vgpu/ledger/busy.h"

namespace berth::vgpu::arbiter {
namespace {

constexpr std::int64_t kPeriod = 2'000'000'000;
constexpr std::int64_t kKnownAfter = 1'000'000'000;
constexpr std::int64_t kTimeMax = 10'000'000'000;  // longer than any one piece of work

}  // namespace

windows::Sight TimeUsed::look(ledger::Place place, const std::vector<bool>& taken,
                              std::int64_t now) {
    windows::Sight sight;
    std::uint64_t used = 0;
    const std::uint32_t end = place.terms->slots_end;
    for (place.slot = 0; place.slot < end; ++place.slot) {
        const ledger::Slot& words = place.line->slots[place.slot];
        if (!taken[place.slot]) continue;
        sight.waiting = sight.waiting || words.waiting != 0;
        if (const std::int64_t since = words.busy_since; since != 0) {
            sight.oldest = sight.in_flight ? std::min(sight.oldest, since) : since;
            sight.processes = sight.in_flight ? sight.processes + 1 : 1;
            sight.in_flight = true;
            ledger::count_busy(place, now);
        }
        const std::uint64_t busy = words.busy_ns;
        std::uint64_t& seen = seen_[place.slot];
        // A word that went backwards is garbage.
        if (busy > seen) used += std::min<std::uint64_t>(busy - seen, kTimeMax);
        seen = busy;
    }
    const ledger::Gate gate = ledger::gate_of(place.terms->gate);
    const bool was_let = gate != ledger::Gate::closed;
    const std::int64_t elapsed = at_ == 0 ? 0 : now - at_;
    if (at_ != 0 && (was_let || was_in_flight_))
        believable_ = std::min(believable_ + now - at_, kTimeMax);
    at_ = now;
    was_in_flight_ = sight.in_flight;
    sight.used_ns = std::min(static_cast<std::int64_t>(used), believable_);
    believable_ -= sight.used_ns;
    period_ = {period_.ns + elapsed, period_.used_ns + sight.used_ns};
    if (gate == ledger::Gate::open)
        period_ = ended_ = {};
    else if (period_.ns >= kPeriod)
        ended_ = std::exchange(period_, {});
    return sight;
}

std::optional<std::int32_t> TimeUsed::lately() const {
    const std::int64_t ns = ended_.ns + period_.ns;
    if (ns < kKnownAfter) return {};
    return static_cast<std::int32_t>((ended_.used_ns + period_.used_ns) * 1000 / ns);
}

}  // namespace berth::vgpu::arbiter
