// SPDX-License-Identifier: Apache-2.0
//
// How much of one GPU's time is owed to each of its tenants? Device time that was used is taken
// from its user's credit and credited to all tenants at work, to each its entitlement
// (entitlement.h, usage.h); so a kernel or graph longer than a window is let run and paid back.
// What a tenant lets lapse goes to those who are in debt: they used it, and no other wanted it.
//
// A share unused is lost, but for a window's worth of credit, and `saved` of it for who goes before
// others: its requests may be longer than a window.
//
// It trusts its caller that now never goes back. An account costs a look at each tenant.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/windows/entitlement.h"
#include "vgpu/windows/usage.h"

namespace berth::vgpu::windows {

using TenantId = std::int32_t;  // 0: none

// All in ns.
struct Pace {
    std::int64_t window = 10'000'000;
    std::int64_t saved = 100'000'000;
    std::int64_t idle_release = 1'000'000;  // who has no work keeps its window for this time
    // A holder with work elsewhere and none on one of its GPUs keeps that one for this time: all of
    // its processes may wait for what a borrower has under way.
    std::int64_t lend_after = 5'000'000;
    std::int64_t drain = 500'000'000;  // the longest wait for a former holder's last work
    std::int64_t alone_after = 200'000'000;  // idle time of all others, then one has the GPU
    std::int64_t look = 1'000'000;  // interval of looks while a tenant waits or has a cap
    // Who goes before others was there lately: those others are gated that long, for its next work.
    std::int64_t expected_back = 10'000'000'000;
    // Work launched ahead: by a tenant with none before or behind it, by one behind another, and by
    // the first.
    std::int64_t ahead = 2'000'000;
    std::int64_t ahead_behind = 1'000'000;
    std::int64_t ahead_first = 8'000'000;
};

// What was seen of a tenant on a GPU since the turn before.
struct Sight {
    bool waiting = false;  // it has work and is not let
    bool in_flight = false;  // launched work has not ended
    std::int64_t used_ns = 0;  // device time
    std::int64_t oldest = 0;  // when the oldest of that work began, where some is in flight
    std::int32_t processes = 1;  // that have some in flight
};

// A tenant on this GPU.
struct Guest {
    TenantId tenant = 0;
    Claim claim;
    Sight sight;
    Usage usage;
    bool has_turn = false;  // it is let, or its last work still runs
    bool waits_elsewhere = false;  // on another GPU, for a window on this one as well
    std::int64_t credit = 0;  // ns * kWhole
    std::int64_t cap_room = 0;  // ns * 1000; below zero it may not begin work
    std::int64_t had_room_at = 0;  // of its cap
    std::int64_t active_at = 0;  // when it last had work, or got a turn

    // Between two pieces of work a tenant still counts as being at work.
    bool is_at_work(std::int64_t now, const Pace& pace) const {
        return waits_elsewhere || now - active_at <= pace.window;
    }
    bool has_work() const { return sight.waiting || sight.in_flight; }
    bool is_idle(std::int64_t now, std::int64_t for_ns) const {
        return !has_work() && now - active_at >= for_ns;
    }
    bool is_capped() const { return claim.cap < 1000; }
    bool can_run() const {
        return !is_capped() || cap_room > 0 || (sight.in_flight && sight.oldest <= had_room_at);
    }
};

class Credits {
  public:
    explicit Credits(const Pace& pace) : pace_(pace) {}

    void join(TenantId tenant, const Claim& claim, std::int64_t now);
    void change(TenantId tenant, const Claim& claim);
    void leave(TenantId tenant);
    void see(TenantId tenant, const Sight& sight);

    // Takes what was used from its users and credits it to all at work.
    void account(std::int64_t now);
    // It keeps no more than `most`, ns * kWhole.
    void lapse(Guest& guest, std::int64_t most);

    std::vector<Guest>& guests() { return guests_; }  // in the order they joined
    const std::vector<Guest>& guests() const { return guests_; }
    Guest* find(TenantId tenant);  // nullptr: it is not here
    const Guest* find(TenantId tenant) const;
    // Whether another one waits that may run.
    bool is_wanted_beside(TenantId tenant) const;
    // How much work it may have launched that has not ended, ns; one piece more where it is
    // shorter. Little of it is what others wait for, much keeps the GPU at work.
    std::int64_t ahead(TenantId tenant) const;

  private:
    std::int64_t savings(const Guest& guest) const;
    void forgive(Guest& guest, std::int64_t elapsed);

    Pace pace_;
    std::vector<Guest> guests_;
    std::int64_t last_account_ = 0;
};

}  // namespace berth::vgpu::windows
