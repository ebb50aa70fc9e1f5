// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/windows.h"

#include <algorithm>
#include <tuple>

namespace berth::vgpu::windows {
namespace {

// No sight is believed beyond this: one wrong process must not overflow a sum.
constexpr std::int64_t kUsedMax = 10'000'000'000;

// Whether it goes before some tenant, or behind one.
bool goes_before_some(const auto& tenants, const Claim& claim) {
    return std::ranges::any_of(
        tenants, [&](const auto& other) { return other.claim.priority < claim.priority; });
}
bool goes_behind_some(const auto& tenants, const Claim& claim) {
    return std::ranges::any_of(
        tenants, [&](const auto& other) { return other.claim.priority > claim.priority; });
}

// Of all tenants.
std::int64_t processes_in_flight(const auto& tenants) {
    std::int64_t count = 0;
    for (const auto& tenant : tenants)
        if (tenant.sight.in_flight) count += tenant.sight.processes;
    return count;
}

// Of the time with its work, what its processes had of the GPU beside those of others.
std::int64_t part_of(const Sight& sight, std::int64_t processes) {
    return sight.in_flight && processes > 0 ? sight.used_ns * sight.processes / processes
                                            : sight.used_ns;
}

bool is_at_work(const Sight& sight) {
    return sight.waiting || sight.in_flight || sight.used_ns > 0;
}

}  // namespace

Windows::Id Windows::join(const Claim& claim, std::int64_t now) {
    Tenant tenant;
    tenant.id = next_id_++;
    tenant.claim = claim;
    tenant.cap_room = claim.cap * pace_.window;
    tenant.active_at = now - pace_.alone_after;
    tenants_.push_back(tenant);
    return tenant.id;
}

void Windows::change(Id id, const Claim& claim) {
    Tenant* tenant = find(id);
    if (tenant == nullptr) return;
    tenant->claim = claim;
    tenant->cap_room = std::min(tenant->cap_room, claim.cap * pace_.window);
}

void Windows::leave(Id id) {
    std::erase_if(tenants_, [id](const Tenant& tenant) { return tenant.id == id; });
    if (holder_ == id) holder_ = 0;
    if (draining_ == id) draining_ = 0;
}

void Windows::see(Id id, const Sight& sight) {
    Tenant* tenant = find(id);
    if (tenant == nullptr) return;
    const std::int64_t used = std::clamp<std::int64_t>(sight.used_ns, 0, kUsedMax);
    tenant->sight = {sight.waiting, sight.in_flight, tenant->sight.used_ns + used, sight.oldest,
                     sight.processes};
}

Right Windows::right(Id id) const {
    for (const Tenant& tenant : tenants_)
        if (tenant.id == id) return tenant.right;
    return Right::closed;
}

std::int64_t Windows::ahead(Id id) const {
    for (const Tenant& tenant : tenants_) {
        if (tenant.id != id) continue;
        if (goes_behind_some(tenants_, tenant.claim)) return pace_.ahead_behind;
        if (goes_before_some(tenants_, tenant.claim)) return pace_.ahead_first;
    }
    return pace_.ahead;
}

Windows::Tenant* Windows::find(Id id) {
    for (Tenant& tenant : tenants_)
        if (tenant.id == id) return &tenant;
    return nullptr;
}

std::int64_t Windows::turn(std::int64_t now) {
    account(now);
    if (const Tenant* old = find(draining_);
        old == nullptr || !old->sight.in_flight || now >= drain_until_)
        draining_ = 0;
    if (const Tenant* holder = find(holder_); holder != nullptr && must_end(*holder, now)) {
        if (holder->sight.in_flight) {
            draining_ = holder_;
            drain_until_ = now + pace_.drain;
        }
        holder_ = 0;
    }
    if (holder_ == 0) hand_over(now);
    const Tenant* only = alone(now);
    for (Tenant& tenant : tenants_) {
        tenant.right = Right::closed;
        if (&tenant == only) tenant.right = Right::open;
        if (only == nullptr && tenant.id == holder_) tenant.right = Right::granted;
    }
    return look_again(now);
}

// Takes what was used from its users and credits it to all at work.
void Windows::account(std::int64_t now) {
    const std::int64_t elapsed = last_turn_ == 0 ? 0 : now - last_turn_;
    last_turn_ = now;
    const std::int64_t crowd = processes_in_flight(tenants_);
    std::int64_t used = 0;
    std::vector<Tenant*> working;
    std::vector<Claim> claims;
    for (Tenant& tenant : tenants_) {
        tenant.sight.used_ns = tenant.usage.charge(
            tenant.sight.used_ns, keeps_from_others(tenant) ? std::min(elapsed, kUsedMax) : 0);
        tenant.sight.used_ns = part_of(tenant.sight, crowd);
        if (is_at_work(tenant.sight)) tenant.active_at = now;
        // Between two pieces of work a tenant still counts as being at work.
        if (now - tenant.active_at <= pace_.window) {
            working.push_back(&tenant);
            claims.push_back(tenant.claim);
        } else {
            forgive(tenant, elapsed);
        }
        used += tenant.sight.used_ns;
        tenant.cap_room =
            std::min(tenant.cap_room + tenant.claim.cap * elapsed, tenant.claim.cap * pace_.window);
        tenant.cap_room -= 1000 * tenant.sight.used_ns;
        if (tenant.cap_room > 0) tenant.had_room_at = now;
        tenant.credit -= kWhole * tenant.sight.used_ns;
        tenant.sight.used_ns = 0;
    }
    const std::vector<std::int64_t> parts = entitlements(claims);
    std::int64_t whole = 0;
    for (const std::int64_t part : parts) whole += part;
    for (std::size_t index = 0; index < working.size() && whole > 0; ++index) {
        Tenant& tenant = *working[index];
        tenant.credit += used * parts[index] / whole * kWhole;
        if (!is_at_work(tenant.sight)) tenant.credit = std::min(tenant.credit, savings(tenant));
    }
}

bool Windows::can_run(const Tenant& tenant) const {
    return !is_capped(tenant) || tenant.cap_room > 0 ||
           (tenant.sight.in_flight && tenant.sight.oldest <= tenant.had_room_at);
}

// Whether it says that it has work on the GPU, and another one waits for that.
bool Windows::keeps_from_others(const Tenant& tenant) const {
    const bool is_there = tenant.id == holder_ || tenant.id == draining_;
    return is_there && (tenant.sight.in_flight || tenant.sight.waiting) &&
           std::ranges::any_of(tenants_, [&](const Tenant& other) {
               return other.id != tenant.id && other.sight.waiting && can_run(other);
           });
}

// What a tenant that idles keeps at most, of its share unused.
std::int64_t Windows::savings(const Tenant& tenant) const {
    return (goes_before_some(tenants_, tenant.claim) ? pace_.saved : pace_.window) * kWhole;
}

// Debt is paid by waiting as well: what an idle tenant could have used is taken from it. Who goes
// before others saves what it could have used, for a request that comes.
void Windows::forgive(Tenant& tenant, std::int64_t elapsed) {
    const std::int64_t most = savings(tenant) > pace_.window * kWhole ? savings(tenant) : 0;
    if (tenant.credit >= most) return;
    std::vector<Claim> claims;
    for (const Tenant& each : tenants_) claims.push_back(each.claim);
    const auto index = static_cast<std::size_t>(&tenant - tenants_.data());
    const std::int64_t part = entitlements(claims)[index];
    tenant.credit = std::min(most, tenant.credit + part * std::min(elapsed, kUsedMax));
}

bool Windows::must_end(const Tenant& holder, std::int64_t now) const {
    if (!can_run(holder)) return true;
    bool wanted = false;
    bool is_next_another = false;
    for (const Tenant& other : tenants_) {
        if (other.id == holder.id || !other.sight.waiting || !can_run(other)) continue;
        wanted = true;
        is_next_another = is_next_another || goes_before(other, holder);
        const bool owed = other.credit > 0;
        if (owed && other.claim.priority > holder.claim.priority) return true;
        if (other.credit - holder.credit >= 2 * pace_.window * kWhole &&
            other.claim.priority == holder.claim.priority)
            return true;
    }
    if (!wanted) return false;
    const bool idle = !holder.sight.waiting && !holder.sight.in_flight;
    return (is_next_another && now >= until_) ||
           (idle && now - holder.active_at >= pace_.idle_release);
}

bool Windows::goes_before(const Tenant& one, const Tenant& other) const {
    const auto rank = [](const Tenant& tenant) {
        return std::tuple(tenant.credit > 0, tenant.claim.priority, tenant.credit, -tenant.id);
    };
    return rank(one) > rank(other);
}

Windows::Tenant* Windows::next() {
    Tenant* best = nullptr;
    for (Tenant& tenant : tenants_) {
        if (!tenant.sight.waiting || !can_run(tenant)) continue;
        if (best == nullptr || goes_before(tenant, *best)) best = &tenant;
    }
    return best;
}

void Windows::hand_over(std::int64_t now) {
    Tenant* tenant = next();
    if (tenant == nullptr) return;
    // The GPU divides its time between the two for as long as the last work takes; to hear of its
    // end and to wake a process then takes longer.
    const Tenant* old = find(draining_);
    if (old != nullptr && tenant->claim.priority <= old->claim.priority) return;
    draining_ = 0;
    holder_ = tenant->id;
    tenant->active_at = now;
    until_ = now + pace_.window;
}

// The tenant that needs no gate: the only one here, or the only one with work for a while.
Windows::Tenant* Windows::alone(std::int64_t now) {
    Tenant* only = tenants_.size() == 1 ? &tenants_.front() : nullptr;
    if (only == nullptr) {
        only = find(holder_);
        for (const Tenant& other : tenants_) {
            if (only == nullptr || other.id == only->id) continue;
            const bool goes_first = other.claim.priority > only->claim.priority;
            const std::int64_t gone_after = goes_first ? pace_.expected_back : pace_.alone_after;
            if (other.sight.waiting || other.sight.in_flight || now - other.active_at < gone_after)
                only = nullptr;
        }
    }
    if (only == nullptr || is_capped(*only)) return nullptr;
    holder_ = only->id;
    until_ = now + pace_.window;
    only->active_at = now;
    return only;
}

std::int64_t Windows::look_again(std::int64_t now) const {
    bool waiting = false;
    bool is_watched = false;
    std::int64_t room_at = kNever;
    for (const Tenant& tenant : tenants_) {
        if (tenant.right == Right::open) return kNever;
        is_watched = is_watched || tenant.sight.waiting || is_capped(tenant);
        waiting = waiting || tenant.sight.waiting;
        if (tenant.sight.waiting && is_capped(tenant) && tenant.cap_room <= 0)
            room_at = std::min(room_at, now + 1 + -tenant.cap_room / tenant.claim.cap);
    }
    if (draining_ != 0) return std::min(now + pace_.look, drain_until_);
    if (holder_ != 0) {
        const std::int64_t look_at = now + (is_watched ? pace_.look : pace_.window);
        return until_ > now ? std::min(look_at, until_) : look_at;
    }
    return waiting ? std::max(room_at, now + 1) : kNever;
}

}  // namespace berth::vgpu::windows
