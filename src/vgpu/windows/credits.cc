// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/credits.h"

#include <algorithm>

namespace berth::vgpu::windows {
namespace {

// No sight is believed beyond this: one wrong process must not overflow a sum.
constexpr std::int64_t kUsedMax = 10'000'000'000;

// Whether it goes before some tenant, or behind one.
bool goes_before_some(const std::vector<Guest>& guests, const Claim& claim) {
    return std::ranges::any_of(
        guests, [&](const Guest& other) { return other.claim.priority < claim.priority; });
}
bool goes_behind_some(const std::vector<Guest>& guests, const Claim& claim) {
    return std::ranges::any_of(
        guests, [&](const Guest& other) { return other.claim.priority > claim.priority; });
}

std::int64_t processes_in_flight(const std::vector<Guest>& guests) {
    std::int64_t count = 0;
    for (const Guest& guest : guests)
        if (guest.sight.in_flight) count += guest.sight.processes;
    return count;
}

// Of the time with its work, what its processes had of the GPU beside those of others.
std::int64_t part_of(const Sight& sight, std::int64_t processes) {
    return sight.in_flight && processes > 0 ? sight.used_ns * sight.processes / processes
                                            : sight.used_ns;
}

bool has_worked(const Sight& sight) {
    return sight.waiting || sight.in_flight || sight.used_ns > 0;
}

}  // namespace

void Credits::join(TenantId tenant, const Claim& claim, std::int64_t now) {
    Guest guest;
    guest.tenant = tenant;
    guest.claim = claim;
    guest.cap_room = claim.cap * pace_.window;
    guest.active_at = now - pace_.alone_after;
    guests_.push_back(guest);
}

void Credits::change(TenantId tenant, const Claim& claim) {
    Guest* guest = find(tenant);
    if (guest == nullptr) return;
    guest->claim = claim;
    guest->cap_room = std::min(guest->cap_room, claim.cap * pace_.window);
}

void Credits::leave(TenantId tenant) {
    std::erase_if(guests_, [tenant](const Guest& guest) { return guest.tenant == tenant; });
}

void Credits::see(TenantId tenant, const Sight& sight) {
    Guest* guest = find(tenant);
    if (guest == nullptr) return;
    const std::int64_t used = std::clamp<std::int64_t>(sight.used_ns, 0, kUsedMax);
    guest->sight = {sight.waiting, sight.in_flight, guest->sight.used_ns + used, sight.oldest,
                    sight.processes};
}

Guest* Credits::find(TenantId tenant) {
    for (Guest& guest : guests_)
        if (guest.tenant == tenant) return &guest;
    return nullptr;
}

const Guest* Credits::find(TenantId tenant) const {
    for (const Guest& guest : guests_)
        if (guest.tenant == tenant) return &guest;
    return nullptr;
}

bool Credits::is_wanted_beside(TenantId tenant) const {
    return std::ranges::any_of(guests_, [&](const Guest& other) {
        return other.tenant != tenant && other.sight.waiting && other.can_run();
    });
}

std::int64_t Credits::ahead(TenantId tenant) const {
    const Guest* guest = find(tenant);
    if (guest == nullptr) return pace_.ahead;
    if (goes_behind_some(guests_, guest->claim)) return pace_.ahead_behind;
    return goes_before_some(guests_, guest->claim) ? pace_.ahead_first : pace_.ahead;
}

void Credits::account(std::int64_t now) {
    const std::int64_t elapsed = last_account_ == 0 ? 0 : now - last_account_;
    last_account_ = now;
    const std::int64_t crowd = processes_in_flight(guests_);
    std::int64_t used = 0;
    std::vector<Guest*> working;
    std::vector<Claim> claims;
    for (Guest& guest : guests_) {
        // It says that it has work on the GPU, and another one waits for that.
        const bool keeps = guest.has_turn && guest.has_work() && is_wanted_beside(guest.tenant);
        guest.sight.used_ns =
            guest.usage.charge(guest.sight.used_ns, keeps ? std::min(elapsed, kUsedMax) : 0);
        guest.sight.used_ns = part_of(guest.sight, crowd);
        if (has_worked(guest.sight)) guest.active_at = now;
        if (guest.is_at_work(now, pace_)) {
            working.push_back(&guest);
            claims.push_back(guest.claim);
        } else {
            forgive(guest, elapsed);
        }
        used += guest.sight.used_ns;
        guest.cap_room =
            std::min(guest.cap_room + guest.claim.cap * elapsed, guest.claim.cap * pace_.window);
        guest.cap_room -= 1000 * guest.sight.used_ns;
        if (guest.cap_room > 0) guest.had_room_at = now;
        guest.credit -= kWhole * guest.sight.used_ns;
        guest.sight.used_ns = 0;
    }
    const std::vector<std::int64_t> parts = entitlements(claims);
    std::int64_t whole = 0;
    for (const std::int64_t part : parts) whole += part;
    for (std::size_t index = 0; index < working.size() && whole > 0; ++index)
        working[index]->credit += used * parts[index] / whole * kWhole;
    for (Guest* guest : working)
        if (!has_worked(guest->sight) && !guest->waits_elsewhere) lapse(*guest, savings(*guest));
}

void Credits::lapse(Guest& guest, std::int64_t most) {
    std::int64_t lapsed = guest.credit - most;
    if (lapsed <= 0) return;
    guest.credit = most;
    std::int64_t debts = 0;
    for (const Guest& other : guests_) debts -= std::min<std::int64_t>(other.credit, 0) / kWhole;
    if (debts == 0) return;
    const std::int64_t part = std::min(lapsed / debts, kWhole);  // of kWhole, of each debt
    for (Guest& other : guests_)
        other.credit -= std::min<std::int64_t>(other.credit, 0) / kWhole * part;
}

// What a tenant that idles keeps at most, of its share unused.
std::int64_t Credits::savings(const Guest& guest) const {
    return (goes_before_some(guests_, guest.claim) ? pace_.saved : pace_.window) * kWhole;
}

// Debt is paid by waiting as well: what an idle tenant could have used is taken from it. Who goes
// before others saves what it could have used, for a request that comes.
void Credits::forgive(Guest& guest, std::int64_t elapsed) {
    const std::int64_t most = savings(guest) > pace_.window * kWhole ? savings(guest) : 0;
    if (guest.credit >= most) return;
    std::vector<Claim> claims;
    for (const Guest& each : guests_) claims.push_back(each.claim);
    const auto index = static_cast<std::size_t>(&guest - guests_.data());
    const std::int64_t part = entitlements(claims)[index];
    guest.credit = std::min(most, guest.credit + part * std::min(elapsed, kUsedMax));
}

}  // namespace berth::vgpu::windows
