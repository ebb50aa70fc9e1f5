// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/place.h"

#include <algorithm>
#include <utility>

namespace berth::vgpu::windows {

Right Place::right(TenantId tenant) const {
    if (tenant == 0) return Right::closed;
    if (alone_ == tenant) return Right::open;
    const bool is_next = borrower_ != 0 ? borrower_ == tenant : holder_ == tenant && is_begun_;
    return is_next && draining_ == 0 ? Right::granted : Right::closed;
}

void Place::leave(TenantId tenant) {
    credits.leave(tenant);
    for (TenantId* role : {&holder_, &borrower_, &draining_, &alone_})
        if (*role == tenant) *role = 0;
}

void Place::account(std::int64_t now) {
    for (Guest& guest : credits.guests())
        guest.has_turn = right(guest.tenant) != Right::closed || draining_ == guest.tenant;
    credits.account(now);
    const Guest* old = credits.find(draining_);
    if (old == nullptr || !old->sight.in_flight || now >= drain_until_) draining_ = 0;
}

void Place::drain(TenantId stopped, std::int64_t now) {
    const Guest* guest = credits.find(stopped);
    if (guest == nullptr || !guest->sight.in_flight) return;
    draining_ = stopped;
    drain_until_ = now + pace_.drain;
}

void Place::end_loan(std::int64_t now) {
    const Guest* borrower = credits.find(borrower_);
    if (borrower == nullptr) return;
    const Guest* holder = credits.find(holder_);
    const bool is_wanted_back = holder != nullptr && holder->has_work();
    const bool is_wanted = credits.is_wanted_beside(borrower_);
    const bool is_unused = borrower->is_idle(now, pace_.idle_release) || now >= lent_until_;
    if (is_wanted_back || (is_wanted && is_unused) || !borrower->can_run())
        drain(std::exchange(borrower_, 0), now);
}

void Place::end_window(std::int64_t now) {
    if (borrower_ == 0 && is_begun_) drain(holder_, now);
    holder_ = alone_ = 0;
    is_begun_ = false;
}

void Place::give_window(TenantId to) {
    holder_ = to;
    is_begun_ = false;
}

bool Place::can_be_lent(std::int64_t now) const {
    if (borrower_ != 0 || draining_ != 0) return false;
    const Guest* holder = credits.find(holder_);
    return holder == nullptr || (is_begun_ && holder->is_idle(now, pace_.lend_after));
}

void Place::lend(Guest& to, std::int64_t now) {
    borrower_ = to.tenant;
    lent_until_ = now + pace_.window;
    to.active_at = now;
}

// The GPU divides its time between two for as long as the last work of the old one takes; to hear
// of its end and to wake a process then takes longer.
bool Place::begin(std::int64_t now) {
    Guest* holder = credits.find(holder_);
    if (holder == nullptr) return false;
    const Guest* old = credits.find(draining_);
    if (old != nullptr && old != holder && old->claim.priority >= holder->claim.priority)
        return false;
    draining_ = 0;
    if (is_begun_) return false;
    is_begun_ = true;
    holder->active_at = now;
    return true;
}

void Place::find_alone(std::int64_t now) {
    alone_ = 0;
    std::vector<Guest>& guests = credits.guests();
    Guest* only = guests.size() == 1 ? &guests.front() : credits.find(is_begun_ ? holder_ : 0);
    for (const Guest& other : guests) {
        if (only == nullptr || &other == only) continue;
        const bool goes_first = other.claim.priority > only->claim.priority;
        const std::int64_t gone_after = goes_first ? pace_.expected_back : pace_.alone_after;
        if (!other.is_idle(now, gone_after)) only = nullptr;
    }
    if (only == nullptr || only->is_capped()) return;
    alone_ = holder_ = only->tenant;
    is_begun_ = true;
    borrower_ = 0;
    until_ = now + pace_.window;
    only->active_at = now;
}

std::int64_t Place::look_again(std::int64_t now) const {
    if (alone_ != 0) return kNever;
    bool is_waiting = false;
    bool is_watched = false;
    std::int64_t room_at = kNever;
    for (const Guest& guest : credits.guests()) {
        is_watched = is_watched || guest.sight.waiting || guest.is_capped();
        is_waiting = is_waiting || guest.sight.waiting;
        if (guest.sight.waiting && guest.is_capped() && guest.cap_room <= 0)
            room_at = std::min(room_at, now + 1 + -guest.cap_room / guest.claim.cap);
    }
    if (draining_ != 0) return std::min(now + pace_.look, drain_until_);
    if (holder_ != 0 || borrower_ != 0) {
        const std::int64_t look_at = now + (is_watched ? pace_.look : pace_.window);
        return until_ > now ? std::min(look_at, until_) : look_at;
    }
    if (!is_waiting) return kNever;
    return room_at == kNever ? now + pace_.look : std::max(room_at, now + 1);
}

}  // namespace berth::vgpu::windows
