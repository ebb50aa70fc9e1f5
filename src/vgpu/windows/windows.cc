// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/windows.h"

#include <algorithm>
#include <tuple>

namespace berth::vgpu::windows {

Windows::Id Windows::join(const Claim& claim, const std::vector<Gpu>& gpus, std::int64_t now) {
    tenants_.push_back({next_id_++, claim, gpus, {}});
    for (const Gpu gpu : gpus)
        places_.try_emplace(gpu, pace_).first->second.credits.join(tenants_.back().id, claim, now);
    return tenants_.back().id;
}

void Windows::change(Id id, const Claim& claim) {
    Tenant* tenant = find(id);
    if (tenant == nullptr) return;
    tenant->claim = claim;
    for (const Gpu gpu : tenant->gpus) places_.at(gpu).credits.change(id, claim);
}

void Windows::leave(Id id) {
    const Tenant* tenant = find(id);
    if (tenant == nullptr) return;
    for (const Gpu gpu : tenant->gpus) {
        places_.at(gpu).leave(id);
        if (places_.at(gpu).credits.guests().empty()) places_.erase(gpu);
    }
    std::erase_if(tenants_, [id](const Tenant& each) { return each.id == id; });
}

void Windows::see(Id id, Gpu gpu, const Sight& sight) {
    if (const auto place = places_.find(gpu); place != places_.end())
        place->second.credits.see(id, sight);
}

Right Windows::right(Id id, Gpu gpu) const {
    const auto place = places_.find(gpu);
    return place == places_.end() ? Right::closed : place->second.right(id);
}

std::int64_t Windows::ahead(Id id, Gpu gpu) const {
    const auto place = places_.find(gpu);
    return place == places_.end() ? pace_.ahead : place->second.credits.ahead(id);
}

Windows::Tenant* Windows::find(Id id) {
    for (Tenant& tenant : tenants_)
        if (tenant.id == id) return &tenant;
    return nullptr;
}

Guest& Windows::guest(const Tenant& tenant, Gpu gpu) {
    return *places_.at(gpu).credits.find(tenant.id);
}

std::int64_t Windows::turn(std::int64_t now) {
    for (Tenant& tenant : tenants_) see_use(tenant, now);
    for (auto& [gpu, place] : places_) place.account(now);
    for (Tenant& tenant : tenants_) owe(tenant, now);
    hand_over(now);
    begin(now);
    std::int64_t next = kNever;
    for (auto& [gpu, place] : places_) {
        place.find_alone(now);
        next = std::min(next, place.look_again(now));
    }
    return next;
}

// Who waits on one of the GPUs that it uses is at work on all of them: its shares of the others go
// on as well.
void Windows::see_use(Tenant& tenant, std::int64_t now) {
    tenant.used.clear();
    tenant.is_waiting = false;
    for (const Gpu gpu : tenant.gpus) {
        const Guest& here = guest(tenant, gpu);
        if (tenant.gpus.size() > 1 && here.is_idle(now, pace_.alone_after)) continue;
        tenant.used.push_back(gpu);
        tenant.is_waiting = tenant.is_waiting || here.sight.waiting;
    }
    for (const Gpu gpu : tenant.gpus) guest(tenant, gpu).waits_elsewhere = false;
    for (const Gpu gpu : tenant.used) guest(tenant, gpu).waits_elsewhere = tenant.is_waiting;
}

void Windows::owe(Tenant& tenant, std::int64_t now) {
    tenant.credit = kNever;
    for (const Gpu gpu : tenant.used) {
        const bool is_shared =
            std::ranges::any_of(places_.at(gpu).credits.guests(), [&](const Guest& other) {
                return other.tenant != tenant.id && other.is_at_work(now, pace_);
            });
        if (is_shared || tenant.gpus.size() == 1)
            tenant.credit = std::min(tenant.credit, guest(tenant, gpu).credit);
    }
    if (tenant.credit == kNever) tenant.credit = 0;
    if (tenant.gpus.size() == 1) return;
    const std::int64_t most = std::max<std::int64_t>(tenant.credit, 0) + pace_.window * kWhole;
    for (const Gpu gpu : tenant.gpus) places_.at(gpu).credits.lapse(guest(tenant, gpu), most);
}

// What it does where it is not gated is not known, and keeps no other GPU from others.
bool Windows::is_idle(const Tenant& tenant, std::int64_t now) {
    bool is_gated = false;
    for (const Gpu gpu : tenant.gpus) {
        if (tenant.gpus.size() > 1 && places_.at(gpu).is_alone(tenant.id)) continue;
        if (!guest(tenant, gpu).is_idle(now, pace_.idle_release)) return false;
        is_gated = true;
    }
    return is_gated;
}

bool Windows::has_windows(const Tenant& tenant) const {
    return std::ranges::any_of(tenant.used,
                               [&](Gpu gpu) { return places_.at(gpu).holder() == tenant.id; });
}

namespace {

bool goes_before(const auto& one, const auto& other) {
    const auto rank = [](const auto& tenant) {
        return std::tuple(tenant.credit > 0, tenant.claim.priority, tenant.credit, -tenant.id);
    };
    return rank(one) > rank(other);
}

}  // namespace

bool Windows::may_take(const Tenant& taker, const Place& place, std::int64_t now) {
    const Tenant* holder = find(place.holder());
    if (holder == nullptr || holder->id == taker.id) return true;
    if (taker.credit > 0 && taker.claim.priority > holder->claim.priority) return true;
    if (taker.claim.priority == holder->claim.priority &&
        taker.credit - holder->credit >= 2 * pace_.window * kWhole)
        return true;
    return (place.is_window_over(now) && goes_before(taker, *holder)) || is_idle(*holder, now);
}

// On all of its GPUs but those that no other tenant uses.
void Windows::end_windows(const Tenant& holder, std::int64_t now) {
    for (const Gpu gpu : holder.gpus) {
        Place& place = places_.at(gpu);
        if (place.holder() == holder.id && !place.is_alone(holder.id)) place.end_window(now);
    }
}

void Windows::take(const Tenant& taker, std::int64_t now) {
    for (const Gpu gpu : taker.used) {
        Place& place = places_.at(gpu);
        if (place.holder() == taker.id) continue;
        const Tenant* holder = find(place.holder());
        place.end_window(now);
        if (holder != nullptr) end_windows(*holder, now);
        place.give_window(taker.id);
    }
}

void Windows::hand_over(std::int64_t now) {
    std::vector<const Tenant*> in_order;
    for (const Tenant& tenant : tenants_) in_order.push_back(&tenant);
    std::ranges::sort(
        in_order, [](const Tenant* one, const Tenant* other) { return goes_before(*one, *other); });
    std::vector<Gpu> claimed;
    for (const Tenant* tenant : in_order) {
        const auto can_run = [&](Gpu gpu) { return guest(*tenant, gpu).can_run(); };
        const auto is_claimed = [&](Gpu gpu) { return std::ranges::count(claimed, gpu) > 0; };
        const auto is_to_be_had = [&](Gpu gpu) { return may_take(*tenant, places_.at(gpu), now); };
        if (!std::ranges::all_of(tenant->used, can_run)) {
            if (has_windows(*tenant)) end_windows(*tenant, now);
            continue;
        }
        if (!tenant->is_waiting && (!has_windows(*tenant) || is_idle(*tenant, now))) continue;
        if (std::ranges::any_of(tenant->used, is_claimed)) continue;
        claimed.insert(claimed.end(), tenant->used.begin(), tenant->used.end());
        if (tenant->is_waiting && std::ranges::all_of(tenant->used, is_to_be_had))
            take(*tenant, now);
    }
    for (auto& [gpu, place] : places_) {
        place.end_loan(now);
        lend(place, in_order, now);
    }
}

void Windows::lend(Place& place, const std::vector<const Tenant*>& in_order, std::int64_t now) {
    if (!place.can_be_lent(now)) return;
    for (const Tenant* tenant : in_order) {
        Guest* taker = place.credits.find(tenant->id);
        const bool can_borrow = taker != nullptr && taker->sight.waiting && taker->can_run();
        if (can_borrow && tenant->used.size() == 1) return place.lend(*taker, now);
    }
}

// Windows whose GPUs have become free, all of a tenant until the same time.
void Windows::begin(std::int64_t now) {
    std::vector<Id> begun;
    for (auto& [gpu, place] : places_)
        if (place.begin(now)) begun.push_back(place.holder());
    for (auto& [gpu, place] : places_)
        if (std::ranges::count(begun, place.holder()) > 0) place.set_until(now + pace_.window);
}

}  // namespace berth::vgpu::windows
