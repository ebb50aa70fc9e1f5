// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/gpus/gates.h"

#include <algorithm>
#include <vector>

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

Gates::Gpu& Gates::gpu_of(const std::string& uuid) {
    const auto [gpu, is_new] = gpus_.try_emplace(uuid);
    if (is_new) gpu->second.number = next_number_++;
    return gpu->second;
}

void Gates::enter(Tenant& tenant, std::int64_t now) {
    if (gpu_of(tenant.gpus().front()).guests.contains(&tenant)) return;
    if (!tenant.rotation().empty()) {
        Gpu& gpu = gpu_of(tenant.gpus().front());
        windows::Rotation& rotation =
            gpu.rotations.try_emplace(tenant.rotation(), rotations_.at(tenant.rotation()))
                .first->second;
        gpu.guests[&tenant] = {0, rotation.join(tenant.rotation_claim(), now), &rotation};
        return;
    }
    std::vector<windows::Windows::Gpu> numbers;
    for (const std::string& uuid : tenant.gpus()) numbers.push_back(gpu_of(uuid).number);
    const windows::Windows::Id id = windows_.join(tenant.claim(), numbers, now);
    for (std::uint32_t index = 0; index < tenant.gpus().size(); ++index)
        gpu_of(tenant.gpus()[index]).guests[&tenant] = {index, id, nullptr};
}

void Gates::leave(Tenant& tenant) {
    for (const std::string& uuid : tenant.gpus()) {
        Gpu& gpu = gpu_of(uuid);
        if (const auto guest = gpu.guests.find(&tenant); guest != gpu.guests.end()) {
            const auto [index, id, rotation] = guest->second;
            if (rotation == nullptr) windows_.leave(id);
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
                windows_.change(place.id, tenant.claim());
        }
}

std::int64_t Gates::look(std::int64_t now) {
    for (auto& [uuid, gpu] : gpus_)
        for (const auto& [tenant, guest] : gpu.guests) {
            if (guest.rotation != nullptr)
                guest.rotation->see(guest.id, tenant->look_in_turn(guest.gpu, now));
            else
                windows_.see(guest.id, gpu.number, tenant->look(guest.gpu, now));
        }
    std::int64_t next = windows_.turn(now);
    for (auto& [uuid, gpu] : gpus_)
        for (auto& [name, rotation] : gpu.rotations) next = std::min(next, rotation.turn(now));
    // First close, then open: two tenants are never let at a time.
    for (const bool closes : {true, false})
        for (auto& [uuid, gpu] : gpus_)
            for (const auto& [tenant, guest] : gpu.guests)
                if ((turn_of(gpu, guest).right == Right::closed) == closes)
                    next = std::min(next, let(gpu, *tenant, guest, now));
    return next;
}

windows::Turn Gates::turn_of(const Gpu& gpu, const Guest& guest) const {
    if (guest.rotation != nullptr) return guest.rotation->turn_of(guest.id);
    return {.right = windows_.right(guest.id, gpu.number)};
}

std::int64_t Gates::let(Gpu& gpu, Tenant& tenant, const Guest& guest, std::int64_t now) {
    const windows::Turn turn = turn_of(gpu, guest);
    if (guest.rotation != nullptr) return tenant.let_in_turn(guest.gpu, turn, now);
    tenant.set_ahead(guest.gpu, windows_.ahead(guest.id, gpu.number));
    return tenant.let(guest.gpu, turn.right, now);
}

}  // namespace berth::vgpu::arbiter
