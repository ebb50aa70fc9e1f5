// SPDX-License-Identifier: Apache-2.0
//
// Whose turn is it on which GPUs, and until when? A tenant has a window on all GPUs that it uses at
// once, or on none: its processes wait for each other, so a window on a part of them is a window in
// which they wait. On each GPU one tenant at a time has the window (place.h); what is owed to whom
// is credits.h. A tenant of several GPUs is owed what it is where it is owed least, of those that
// others use as well. What it is owed beyond that elsewhere lapses: it cannot use it.
//
// Next are those that have work and are within their caps: those with credit first, among them the
// highest priority, among those the most credit, then who joined first. Each of them in that order
// gets a window where it can have all of its GPUs; where it cannot yet, no tenant behind it gets a
// window on those. A window goes on past its end as long as no other tenant can take the GPU, and
// ends early when its holder has nothing to run, when a higher priority with credit wants the GPU,
// or when another tenant is owed two windows more than it.
//
// While the holder has work on others of its GPUs and none on one for long, that one is lent to a
// tenant which uses no other, until its holder wants it. A GPU is used by who had work there
// lately.
//
// A cap that is reached stops a tenant once the work is done that it had then: to launch beside
// that costs no time of the GPU.
//
// Shares hold over any time that is long against the windows of all tenants and twice the longest
// single work item; a cap as well. Three tenants on GPUs 0 and 1, 1 and 2, 2 and 0 cannot have a
// half each, for no two of them fit beside each other: they get a third.
//
// It trusts its caller that now never goes back. A turn costs a look at each tenant.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/windows/place.h"

namespace berth::vgpu::windows {

class Windows {
  public:
    using Id = TenantId;
    using Gpu = std::uint32_t;  // its number on this node

    explicit Windows(const Pace& pace = {}) : pace_(pace) {}

    Id join(const Claim& claim, const std::vector<Gpu>& gpus, std::int64_t now);
    void change(Id id, const Claim& claim);
    void leave(Id id);

    void see(Id id, Gpu gpu, const Sight& sight);
    // Decides. Returns when to look again at the latest; never when no tenant waits or works gated.
    std::int64_t turn(std::int64_t now);
    Right right(Id id, Gpu gpu) const;
    // How much work it may have launched on that GPU that has not ended, ns (credits.h).
    std::int64_t ahead(Id id, Gpu gpu) const;

    static constexpr std::int64_t kNever = windows::kNever;

  private:
    struct Tenant {
        Id id = 0;
        Claim claim;
        std::vector<Gpu> gpus;
        std::vector<Gpu> used;  // on which it had work lately, or waits
        bool is_waiting = false;  // on any of those
        std::int64_t credit = 0;  // ns * kWhole, where it is owed least
    };

    Tenant* find(Id id);
    Guest& guest(const Tenant& tenant, Gpu gpu);
    void see_use(Tenant& tenant, std::int64_t now);
    void owe(Tenant& tenant, std::int64_t now);
    bool is_idle(const Tenant& tenant, std::int64_t now);
    bool has_windows(const Tenant& tenant) const;
    bool may_take(const Tenant& taker, const Place& place, std::int64_t now);
    void end_windows(const Tenant& holder, std::int64_t now);
    void take(const Tenant& taker, std::int64_t now);
    void hand_over(std::int64_t now);
    void lend(Place& place, const std::vector<const Tenant*>& in_order, std::int64_t now);
    void begin(std::int64_t now);

    Pace pace_;
    std::vector<Tenant> tenants_;  // in the order they joined
    std::map<Gpu, Place> places_;
    Id next_id_ = 1;
};

}  // namespace berth::vgpu::windows
