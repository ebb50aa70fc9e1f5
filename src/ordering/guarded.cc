// SPDX-License-Identifier: Apache-2.0
#include "ordering/guarded.h"

#include <algorithm>

namespace berth::ordering {
namespace {

constexpr std::int64_t kBehindFirstLevel = 2;  // a key, on level 0
constexpr Duration kCreditMin = std::chrono::minutes(10);
constexpr Duration kRunMin = std::chrono::hours(1);
constexpr std::int64_t kRunDivisor = 20;

}  // namespace

Rank Guarded::rank(const Standing& job) const {
    const Watch& own = watch(job.job);
    if (own.claim == Claim::Granted)
        return {.level = 0, .key = kBehindFirstLevel, .tie = own.number};
    return inner_->rank(job);
}

TimePoint Guarded::due_at(const Standing& job) const {
    return job.now - job.in_state + std::max(job.held, kCreditMin) * terms_.patience;
}

TimePoint Guarded::next_change(const Standing& job) const {
    const TimePoint inner = inner_->next_change(job);
    const Watch& own = watch(job.job);
    if (own.claim == Claim::Granted && job.runs) {
        return std::min(inner, job.now + (own.held_until - job.held));
    }
    if (own.claim == Claim::None && !job.runs) return std::min(inner, due_at(job));
    return inner;
}

void Guarded::notice(Happening happening, const Standing& job) {
    if (happening == Happening::Submitted) {
        watches_.resize(std::max(watches_.size(), static_cast<std::size_t>(job.job) + 1));
        watch(job.job).gpus = job.gpus;
    }
    inner_->notice(happening, job);
    Watch& own = watch(job.job);
    if (own.claim == Claim::None && !job.runs && happening == Happening::Changed &&
        job.now >= due_at(job)) {
        own.claim = Claim::Due;
        own.held_until = job.held + std::max(job.held / kRunDivisor, kRunMin);
        due_.push_back(job.job);
        grant();
    } else if (own.claim == Claim::Granted &&
               (happening == Happening::Finished || (job.runs && job.held >= own.held_until))) {
        give_up(job.job);
        grant();
    }
}

void Guarded::give_up(Ticket job) {
    watch(job).claim = Claim::None;
    granted_gpus_ -= watch(job).gpus;
}

// Oldest first, without overtaking: a wide one comes when the others' runs are over.
void Guarded::grant() {
    while (!due_.empty()) {
        const Ticket job = due_.front();
        Watch& own = watch(job);
        if (own.claim == Claim::Due) {
            if (granted_gpus_ > 0 && granted_gpus_ + own.gpus > terms_.gpus_at_once) return;
            own.claim = Claim::Granted;
            own.number = ++grants_;
            granted_gpus_ += own.gpus;
            moved_.push_back(job);
        }
        due_.pop_front();
    }
}

void Guarded::settle(std::span<const Ticket> started, std::span<const Ticket> paused) {
    for (const Ticket job : started) {
        if (watch(job).claim == Claim::Due) watch(job).claim = Claim::None;
    }
    inner_->settle(started, paused);
}

Moved Guarded::moved() {
    Moved moved = inner_->moved();
    moved.jobs.insert(moved.jobs.end(), moved_.begin(), moved_.end());
    moved_.clear();
    return moved;
}

}  // namespace berth::ordering
