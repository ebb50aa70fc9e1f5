// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/gpus/gates.h"

#include <algorithm>

namespace berth::vgpu::arbiter {

using windows::Right;

void Gates::set_lane(const std::string& name, const windows::LaneTerms& terms) {
    lanes_[name] = terms;
    for (auto& [uuid, gpu] : gpus_)
        if (const auto lane = gpu.lanes.find(name); lane != gpu.lanes.end())
            lane->second.change(terms);
}

const windows::LaneTerms* Gates::lane(const std::string& name) const {
    const auto found = lanes_.find(name);
    return found == lanes_.end() ? nullptr : &found->second;
}

void Gates::enter(Tenant& tenant, std::int64_t now) {
    for (std::uint32_t index = 0; index < tenant.gpus().size(); ++index) {
        Gpu& gpu = gpus_[tenant.gpus()[index]];
        if (gpu.guests.contains(&tenant)) continue;
        if (tenant.lane().empty()) {
            gpu.guests[&tenant] = {index, gpu.windows.join(tenant.claim(), now), nullptr};
            continue;
        }
        windows::Lane& lane =
            gpu.lanes.try_emplace(tenant.lane(), lanes_.at(tenant.lane())).first->second;
        gpu.guests[&tenant] = {index, lane.join(tenant.lane_claim(), now), &lane};
    }
}

void Gates::leave(Tenant& tenant) {
    for (const std::string& uuid : tenant.gpus()) {
        Gpu& gpu = gpus_[uuid];
        if (const auto guest = gpu.guests.find(&tenant); guest != gpu.guests.end()) {
            const auto [index, id, lane] = guest->second;
            if (lane == nullptr) gpu.windows.leave(id);
            if (lane != nullptr) lane->leave(id);
            if (lane != nullptr && lane->is_empty()) gpu.lanes.erase(tenant.lane());
            tenant.set_gate(index, Right::open);
            gpu.guests.erase(guest);
        }
        if (gpu.guests.empty()) gpus_.erase(uuid);
    }
}

void Gates::change(const Tenant& tenant) {
    for (auto& [uuid, gpu] : gpus_)
        for (const auto& [guest, place] : gpu.guests) {
            if (guest != &tenant) continue;
            if (place.lane != nullptr)
                place.lane->change(place.id, tenant.lane_claim());
            else
                gpu.windows.change(place.id, tenant.claim());
        }
}

std::int64_t Gates::look(std::int64_t now) {
    std::int64_t next = windows::Windows::kNever;
    for (auto& [uuid, gpu] : gpus_) next = std::min(next, look(gpu, now));
    return next;
}

std::int64_t Gates::look(Gpu& gpu, std::int64_t now) {
    for (const auto& [tenant, guest] : gpu.guests) {
        if (guest.lane != nullptr)
            guest.lane->see(guest.id, tenant->look_in_lane(guest.gpu, now));
        else
            gpu.windows.see(guest.id, tenant->look(guest.gpu, now));
    }
    std::int64_t next = gpu.windows.turn(now);
    for (auto& [name, lane] : gpu.lanes) next = std::min(next, lane.turn(now));
    const auto let = [&](Tenant& tenant, const Guest& guest) {
        if (guest.lane != nullptr)
            return tenant.let_in_lane(guest.gpu, guest.lane->turn_of(guest.id), now);
        tenant.set_ahead(guest.gpu, gpu.windows.ahead(guest.id));
        return tenant.let(guest.gpu, gpu.windows.right(guest.id), now);
    };
    const auto is_closed = [&](const Guest& guest) {
        return (guest.lane != nullptr ? guest.lane->turn_of(guest.id).right
                                      : gpu.windows.right(guest.id)) == Right::closed;
    };
    // First close, then open: two tenants are never let at a time.
    for (const bool closes : {true, false})
        for (const auto& [tenant, guest] : gpu.guests)
            if (is_closed(guest) == closes) next = std::min(next, let(*tenant, guest));
    return next;
}

}  // namespace berth::vgpu::arbiter
