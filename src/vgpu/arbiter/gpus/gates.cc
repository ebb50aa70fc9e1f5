// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/gpus/gates.h"

#include <algorithm>

namespace berth::vgpu::arbiter {

using windows::Right;

void Gates::set_rotation(const std::string& name, const windows::RotationTerms& terms) {
    rotations_[name] = terms;
    for (auto& [uuid, gpu] : gpus_)
        if (const auto rotation = gpu.rotations.find(name); rotation != gpu.rotations.end())
            rotation->second.change(terms);
}

const windows::RotationTerms* Gates::rotation(const std::string& name) const {
    const auto found = rotations_.find(name);
    return found == rotations_.end() ? nullptr : &found->second;
}

void Gates::enter(Tenant& tenant, std::int64_t now) {
    for (std::uint32_t index = 0; index < tenant.gpus().size(); ++index) {
        Gpu& gpu = gpus_[tenant.gpus()[index]];
        if (gpu.guests.contains(&tenant)) continue;
        if (tenant.rotation().empty()) {
            gpu.guests[&tenant] = {index, gpu.windows.join(tenant.claim(), now), nullptr};
            continue;
        }
        windows::Rotation& rotation =
            gpu.rotations.try_emplace(tenant.rotation(), rotations_.at(tenant.rotation()))
                .first->second;
        gpu.guests[&tenant] = {index, rotation.join(tenant.rotation_claim(), now), &rotation};
    }
}

void Gates::leave(Tenant& tenant) {
    for (const std::string& uuid : tenant.gpus()) {
        Gpu& gpu = gpus_[uuid];
        if (const auto guest = gpu.guests.find(&tenant); guest != gpu.guests.end()) {
            const auto [index, id, rotation] = guest->second;
            if (rotation == nullptr) gpu.windows.leave(id);
            if (rotation != nullptr) rotation->leave(id);
            if (rotation != nullptr && rotation->is_empty()) gpu.rotations.erase(tenant.rotation());
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
            if (place.rotation != nullptr)
                place.rotation->change(place.id, tenant.rotation_claim());
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
        if (guest.rotation != nullptr)
            guest.rotation->see(guest.id, tenant->look_in_turn(guest.gpu, now));
        else
            gpu.windows.see(guest.id, tenant->look(guest.gpu, now));
    }
    std::int64_t next = gpu.windows.turn(now);
    for (auto& [name, rotation] : gpu.rotations) next = std::min(next, rotation.turn(now));
    const auto let = [&](Tenant& tenant, const Guest& guest) {
        if (guest.rotation != nullptr)
            return tenant.let_in_turn(guest.gpu, guest.rotation->turn_of(guest.id), now);
        tenant.set_ahead(guest.gpu, gpu.windows.ahead(guest.id));
        return tenant.let(guest.gpu, gpu.windows.right(guest.id), now);
    };
    const auto is_closed = [&](const Guest& guest) {
        return (guest.rotation != nullptr ? guest.rotation->turn_of(guest.id).right
                                          : gpu.windows.right(guest.id)) == Right::closed;
    };
    // First close, then open: two tenants are never let at a time.
    for (const bool closes : {true, false})
        for (const auto& [tenant, guest] : gpu.guests)
            if (is_closed(guest) == closes) next = std::min(next, let(*tenant, guest));
    return next;
}

}  // namespace berth::vgpu::arbiter
