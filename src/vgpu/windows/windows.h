// SPDX-License-Identifier: Apache-2.0
//
// Whose turn is it on a GPU, and until when? One tenant at a time holds a window. Device time that
// was used is taken from its user's credit and credited to all tenants at work, to each its
// entitlement (entitlement.h, usage.h); so a kernel or graph longer than a window is let run and
// paid back.
//
// Next is who has work and is within its cap: those with credit first, among them the highest
// priority, among those the most credit, then who joined first. A window goes on past its end as
// long as its holder would be the next one, and ends early when it has nothing to run, when a
// higher priority with credit wants the GPU, or when another tenant is owed two windows more than
// it. The next one begins when the last work of the old holder has ended, and that of a higher
// priority at once. A tenant that is alone is not gated at all, unless it has a cap.
//
// What is launched ahead is what others wait for, and what keeps the GPU at work: little of it from
// tenants behind another one, much from those before others.
//
// Work of a former holder that does not end for long is not waited for, and that of a lower
// priority is not at all. Then the driver divides the GPU's time among all processes with work, and
// each tenant is charged its part of that.
//
// A cap that is reached stops a tenant once the work is done that it had then: to launch beside
// that costs no time of the GPU.
//
// Shares hold over any time that is long against the windows of all tenants and twice the longest
// single work item; a cap as well. A share unused is lost, but for a window's worth of credit, and
// `saved` of it for who goes before others: its requests may be longer than a window.
// It trusts its caller that now never goes back. A turn costs a look at each tenant.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/windows/entitlement.h"
#include "vgpu/windows/usage.h"

namespace berth::vgpu::windows {

// All in ns.
struct Pace {
    std::int64_t window = 10'000'000;
    std::int64_t saved = 100'000'000;
    std::int64_t idle_release = 1'000'000;  // a holder without work keeps its window for this time
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

// What was seen of a tenant since the turn before.
struct Sight {
    bool waiting = false;  // it has work and is not let
    bool in_flight = false;  // launched work has not ended
    std::int64_t used_ns = 0;  // device time
    std::int64_t oldest = 0;  // when the oldest of that work began, where some is in flight
    std::int32_t processes = 1;  // that have some in flight
};

enum class Right {
    open,  // no other tenant is there
    granted,  // until it is closed
    turn,  // for one iteration, or what is left of it (rotation.h)
    closed,
};

class Windows {
  public:
    using Id = std::int32_t;

    explicit Windows(const Pace& pace = {}) : pace_(pace) {}

    Id join(const Claim& claim, std::int64_t now);
    void change(Id id, const Claim& claim);
    void leave(Id id);

    void see(Id id, const Sight& sight);
    // Decides. Returns when to look again at the latest; never when no tenant waits or works gated.
    std::int64_t turn(std::int64_t now);
    Right right(Id id) const;
    // How much work it may have launched that has not ended, ns; one piece more where it is
    // shorter.
    std::int64_t ahead(Id id) const;

    static constexpr std::int64_t kNever = INT64_MAX;

  private:
    struct Tenant {
        Id id = 0;
        Claim claim;
        Sight sight;
        Right right = Right::closed;
        Usage usage;
        std::int64_t credit = 0;  // ns * kWhole
        std::int64_t cap_room = 0;  // ns * 1000; below zero it may not begin work
        std::int64_t had_room_at = 0;  // of its cap
        std::int64_t active_at = 0;  // when it last had work
    };

    Tenant* find(Id id);
    bool is_capped(const Tenant& tenant) const { return tenant.claim.cap < 1000; }
    bool can_run(const Tenant& tenant) const;
    void account(std::int64_t now);
    bool keeps_from_others(const Tenant& tenant) const;
    std::int64_t savings(const Tenant& tenant) const;
    void forgive(Tenant& tenant, std::int64_t elapsed);
    bool must_end(const Tenant& holder, std::int64_t now) const;
    bool goes_before(const Tenant& one, const Tenant& other) const;
    Tenant* next();
    Tenant* alone(std::int64_t now);
    void hand_over(std::int64_t now);
    std::int64_t look_again(std::int64_t now) const;

    Pace pace_;
    std::vector<Tenant> tenants_;  // in the order they joined
    Id next_id_ = 1;
    Id holder_ = 0;  // 0: none
    Id draining_ = 0;  // whose last work still runs
    std::int64_t until_ = 0;
    std::int64_t drain_until_ = 0;
    std::int64_t last_turn_ = 0;
};

}  // namespace berth::vgpu::windows
