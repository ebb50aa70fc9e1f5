// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/election.h"

#include <algorithm>
#include <utility>

#include "codec/words/timestamp.h"

namespace berth::kube::scheduler {

using client::Lease;
using client::Outcome;
namespace {

constexpr base::Duration kFarewell = std::chrono::milliseconds(10);

}  // namespace

Election::Election(client::Requests& requests, client::Timers& timers, const ports::Clock& date,
                   Candidate candidate, Handlers handlers)
    : requests_(requests),
      timers_(timers),
      date_(date),
      candidate_(std::move(candidate)),
      handlers_(std::move(handlers)),
      next_(timers),
      expiry_(timers) {
    lease_.name_space = candidate_.name_space;
    lease_.name = candidate_.lease;
}

void Election::look_after(base::Duration wait) {
    next_.start(wait, [this] { look(); });
}

// Who leads renews without asking, as long as it knows what is there.
void Election::look() {
    if (is_over_) return;
    if (leads_ && !unsure_since_) return write(lease_);
    requests_.send(client::read_lease(lease_),
                   [this, here = std::weak_ptr(is_here_)](const Outcome& outcome) {
                       if (!here.expired() && !is_over_) take_look(outcome);
                   });
}

void Election::take_look(const Outcome& outcome) {
    const bool is_missing = outcome.kind == Outcome::Kind::Refused && outcome.code == 404;
    if (!outcome.is_done() && !is_missing) {
        trouble_ = "the Lease cannot be read: " + outcome.message;
        return look_after(leads_ ? kRenewEvery : kLookEvery);
    }
    trouble_.clear();
    if (is_missing) {
        if (leads_) return lose();
        lease_.version.clear();
        return write(lease_);
    }
    const auto read = client::parse_lease(outcome.body);
    if (!read) {
        trouble_ = read.error().message;
        return look_after(kLookEvery);
    }
    const bool is_ours = read->holder == candidate_.identity;
    if (leads_ && !is_ours) return lose();
    const bool has_changed = read->version != lease_.version || read->holder != lease_.holder;
    // A write of ours whose answer was lost: it is there, and holds from when it was sent; or not.
    if (is_ours && unsure_since_ && has_changed) return follow(*read, *unsure_since_);
    if (leads_) return write(lease_);
    if (has_changed) {
        if (read->holder != lease_.holder && !read->holder.empty()) handlers_.other(read->holder);
        seen_ = timers_.now();
        lease_ = *read;
    }
    if (is_free(*read)) return write(*read);
    const base::Duration left = seen_ + std::chrono::seconds(read->duration_s) - timers_.now();
    look_after(std::clamp(left, base::Duration{1}, kLookEvery));
}

bool Election::is_free(const Lease& lease) {
    return lease.holder.empty() || timers_.now() - seen_ >= std::chrono::seconds(lease.duration_s);
}

void Election::write(Lease lease) {
    if (lease.holder != candidate_.identity) {
        lease.transitions += lease.version.empty() ? 0 : 1;
        lease.acquired = date();
    }
    lease.holder = candidate_.identity;
    lease.duration_s = std::chrono::ceil<std::chrono::seconds>(kLeaseFor).count();
    lease.renewed = date();
    const base::TimePoint sent = timers_.now();
    if (!unsure_since_) unsure_since_ = sent;
    requests_.send(client::write_lease(lease),
                   [this, here = std::weak_ptr(is_here_), sent](const Outcome& outcome) {
                       if (!here.expired() && !is_over_) take_write(outcome, sent);
                   });
}

void Election::take_write(const Outcome& outcome, base::TimePoint sent) {
    if (outcome.is_done()) {
        const auto written = client::parse_lease(outcome.body);
        if (written) return follow(*written, sent);
    }
    trouble_ = "the Lease cannot be written: " + outcome.message;
    look_after(kLookEvery);
}

void Election::follow(const Lease& lease, base::TimePoint since) {
    lease_ = lease;
    unsure_since_.reset();
    trouble_.clear();
    const base::Duration left = since + kRenewWithin - timers_.now();
    if (left <= base::Duration{0}) return leads_ ? lose() : look_after(kLookEvery);
    expiry_.start(left, [this] { lose(); });
    look_after(std::max(since + kRenewEvery - timers_.now(), base::Duration{0}));
    if (!std::exchange(leads_, true)) handlers_.gained();
}

void Election::lose() {
    if (is_over_) return;
    is_over_ = true;
    leads_ = false;
    next_.stop();
    expiry_.stop();
    handlers_.lost();
}

void Election::release(std::function<void()> then) {
    const bool led = std::exchange(leads_, false);
    is_over_ = true;
    next_.stop();
    expiry_.stop();
    if (!led) return then();
    if (requests_.under_way() > 0) {
        leads_ = true;
        next_.start(kFarewell, [this, then = std::move(then)] { release(then); });
        return;
    }
    Lease lease = lease_;
    lease.holder.clear();
    lease.duration_s = 1;
    requests_.send(client::write_lease(lease),
                   [then = std::move(then)](const Outcome&) { then(); });
}

std::string Election::date() const { return client::micro_time(date_.now()); }

}  // namespace berth::kube::scheduler
