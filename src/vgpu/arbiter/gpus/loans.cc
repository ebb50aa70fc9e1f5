// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/gpus/loans.h"

#include <algorithm>
#include <set>
#include <vector>

#include "vgpu/lending/lend.h"

namespace berth::vgpu::arbiter {
namespace {

using lending::Where;

// No process rings when memory becomes free that others wait for.
constexpr std::int64_t kLookWhileWaiting = 10'000'000;

struct Guest {
    Tenant* tenant = nullptr;
    std::uint32_t gpu = 0;  // in its order
};

struct Guests {
    std::vector<Guest> of;
    std::uint64_t in_rotations = 0;  // bytes
};

Guests guests_of(const std::string& uuid, const Tenants& tenants, const Gates& gates) {
    Guests guests;
    std::set<std::string> rotations;
    for (const auto& [name, tenant] : tenants) {
        const auto found = std::ranges::find(tenant->gpus(), uuid);
        if (found == tenant->gpus().end()) continue;
        if (tenant->rotation().empty()) {
            const auto gpu = static_cast<std::uint32_t>(found - tenant->gpus().begin());
            if (tenant->is_limited(gpu)) guests.of.push_back({tenant.get(), gpu});
        } else if (rotations.insert(tenant->rotation()).second) {
            guests.in_rotations += gates.rotation(tenant->rotation())->memory;
        }
    }
    return guests;
}

// Where a tenant is to be by what is decided on each of its GPUs.
struct Wishes {
    bool has_to_leave = false;
    bool may_come_back = true;
};

void order(Tenant& tenant, const Wishes& wishes, Gates& gates, std::int64_t now) {
    if (tenant.whereabouts.where == Where::here && wishes.has_to_leave) {
        if (!tenant.order_move(ledger::Move::leave)) return;
        tenant.whereabouts.move_to(Where::leaving, now);
        ++tenant.whereabouts.times;
        gates.leave(tenant);
    } else if (tenant.whereabouts.where == Where::off && wishes.may_come_back) {
        if (!tenant.order_move(ledger::Move::come_back)) return;
        tenant.whereabouts.move_to(Where::returning, now);
        if (tenant.members_here() > 0) gates.enter(tenant, now);
    }
}

}  // namespace

std::int64_t Loans::look(Tenants& tenants, Gates& gates, std::int64_t now) {
    bool is_any_waiting = false;
    bool again = false;
    std::map<Tenant*, Wishes> wishes;
    for (const auto& [uuid, memory] : memory_) {
        const Guests guests = guests_of(uuid, tenants, gates);
        std::vector<lending::Tenant> sights;
        for (const Guest& guest : guests.of)
            sights.push_back(guest.tenant->look_at_loan(guest.gpu));
        const auto decisions =
            lending::lend(memory - std::min(memory, guests.in_rotations), sights, now);
        again |= decisions.again;
        for (std::size_t i = 0; i < sights.size(); ++i) {
            Tenant& tenant = *guests.of[i].tenant;
            const lending::Decision& decision = decisions.of[i];
            tenant.grant(guests.of[i].gpu, sights[i], decision);
            wishes[&tenant].has_to_leave |= decision.where == Where::leaving;
            wishes[&tenant].may_come_back &= decision.where == Where::returning;
            is_any_waiting |= sights[i].asked > 0 || sights[i].where == Where::off;
        }
    }
    for (const auto& [tenant, wish] : wishes) order(*tenant, wish, gates, now);
    // Where nothing is lent, a tenant comes back without asking.
    for (const auto& [name, tenant] : tenants)
        if (!wishes.contains(tenant.get())) order(*tenant, {false, true}, gates, now);
    if (again) return now;
    return is_any_waiting ? now + kLookWhileWaiting : windows::Windows::kNever;
}

}  // namespace berth::vgpu::arbiter
