// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/gates.h"

#include <algorithm>

namespace berth::vgpu::arbiter {

void Gates::enter(Tenant& tenant, std::int64_t now) {
    for (std::uint32_t index = 0; index < tenant.gpus().size(); ++index) {
        Gpu& gpu = gpus_[tenant.gpus()[index]];
        if (!gpu.guests.contains(&tenant))
            gpu.guests[&tenant] = {index, gpu.windows.join(tenant.claim(), now)};
    }
}

void Gates::leave(Tenant& tenant) {
    for (const std::string& uuid : tenant.gpus()) {
        Gpu& gpu = gpus_[uuid];
        if (const auto guest = gpu.guests.find(&tenant); guest != gpu.guests.end()) {
            gpu.windows.leave(guest->second.id);
            tenant.set_gate(guest->second.gpu, windows::Right::open);
            gpu.guests.erase(guest);
        }
        if (gpu.guests.empty()) gpus_.erase(uuid);
    }
}

void Gates::change(const Tenant& tenant) {
    for (auto& [uuid, gpu] : gpus_)
        for (const auto& [guest, place] : gpu.guests)
            if (guest == &tenant) gpu.windows.change(place.id, tenant.claim());
}

std::int64_t Gates::look(std::int64_t now) {
    std::int64_t next = windows::Windows::kNever;
    for (auto& [uuid, gpu] : gpus_) {
        for (const auto& [tenant, guest] : gpu.guests)
            gpu.windows.see(guest.id, tenant->look(guest.gpu, now));
        next = std::min(next, gpu.windows.turn(now));
        // First close, then open: two tenants are never let at a time.
        for (const auto& [tenant, guest] : gpu.guests)
            if (const auto right = gpu.windows.right(guest.id); right == windows::Right::closed)
                tenant->set_gate(guest.gpu, right);
        for (const auto& [tenant, guest] : gpu.guests)
            next = std::min(next, tenant->let(guest.gpu, gpu.windows.right(guest.id), now));
    }
    return next;
}

}  // namespace berth::vgpu::arbiter
