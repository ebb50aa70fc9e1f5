// SPDX-License-Identifier: Apache-2.0
#include "ordering/guarded.h"

#include <algorithm>

namespace berth::ordering {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kBehindFirstLevel = 2;  // a key, on level 0
constexpr Duration kCreditMin = std::chrono::minutes(10);
constexpr Duration kFairCreditMin = std::chrono::minutes(1);
constexpr Duration kRunMin = std::chrono::hours(1);
constexpr Duration kFairRunMin = std::chrono::minutes(2);
constexpr std::int64_t kRunDivisor = 20;

}  // namespace

Rank Guarded::rank(const Standing& job) const {
    const Watch& own = watch(job.job);
    if (own.claim == Claim::Granted)
        return {.level = 0, .key = kBehindFirstLevel, .tie = own.number};
    return inner_->rank(job);
}

void Guarded::go_to(TimePoint now) {
    asked_ += demand_ * (now - now_).count();
    now_ = now;
}

// When to look whether it is due. As the demand may fall, at the latest when it is twice as old.
TimePoint Guarded::due_at(const Standing& job) const {
    if (!is_by_fair_end()) {
        return job.now - job.in_state + std::max(job.held, kCreditMin) * terms_.patience;
    }
    const Duration age = job.now - job.submitted;
    const TimePoint due = std::max(job.submitted + fair_age(job), job.now + kFairCreditMin);
    return std::min(due, job.now + std::max(age, kFairCreditMin));
}

// From when on it is due, if it has got no further and demand has been as it was during its life.
Duration Guarded::fair_age(const Standing& job) const {
    const std::int64_t age = std::max<std::int64_t>((job.now - job.submitted).count(), 1);
    const GpuMs asked = asked_ + demand_ * (job.now - now_).count() - watch(job.job).asked_before;
    const Duration alone = std::max(job.held, kFairCreditMin) * terms_.patience;
    const Wide crowded = Wide{alone.count()} * std::max(asked, demand_) / age / terms_.gpus;
    return std::max(alone, Duration{static_cast<Duration::rep>(crowded)});
}

bool Guarded::is_due(const Standing& job) const {
    if (is_by_fair_end()) return job.now - job.submitted >= fair_age(job);
    return job.now >= due_at(job);
}

Duration Guarded::run(const Standing& job) const {
    const Duration least = is_by_fair_end() ? std::clamp(job.held, kFairRunMin, kRunMin) : kRunMin;
    return std::max(job.held / kRunDivisor, least);
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

std::optional<Bounds> Guarded::bounds(const Standing& job) const {
    if (watch(job.job).claim == Claim::Granted) return std::nullopt;
    return inner_->bounds(job);
}

void Guarded::notice(Happening happening, const Standing& job) {
    go_to(job.now);
    if (happening == Happening::Submitted) {
        watches_.resize(std::max(watches_.size(), static_cast<std::size_t>(job.job) + 1));
        watch(job.job).gpus = job.gpus;
        watch(job.job).asked_before = asked_;
        demand_ += job.gpus;
    } else if (happening == Happening::Finished) {
        demand_ -= job.gpus;
    }
    inner_->notice(happening, job);
    Watch& own = watch(job.job);
    if (own.claim == Claim::None && !job.runs && happening == Happening::Changed && is_due(job)) {
        own.claim = Claim::Due;
        own.held_until = job.held + run(job);
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
