// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/rotation.h"

#include <algorithm>
#include <tuple>

namespace berth::vgpu::windows {
namespace {

// No sight is believed beyond this: one wrong process must not overflow a sum.
constexpr std::int64_t kTurnMax = 10'000'000'000;
constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 52;
constexpr std::int64_t kScoreUnit = 1000;  // of a weight of one

}  // namespace

Rotation::Id Rotation::join(const RotationClaim& claim, std::int64_t now) {
    Job job;
    job.id = next_id_++;
    job.active_at = now;
    // It starts with the least that another had: a newcomer must not shut out the others.
    for (const Job& other : jobs_)
        if (&other == &jobs_.front() || other.score < job.score) job.score = other.score;
    jobs_.push_back(job);
    change(job.id, claim);
    return job.id;
}

void Rotation::change(Id id, const RotationClaim& claim) {
    if (Job* job = find(id)) {
        job->claim = claim;
        job->claim.limit = std::min(claim.limit, kBytesMax);
    }
}

void Rotation::leave(Id id) {
    std::erase_if(jobs_, [id](const Job& job) { return job.id == id; });
    if (holder_ == id) holder_ = 0;
    if (draining_ == id) draining_ = 0;
}

void Rotation::see(Id id, const RotationSight& sight) {
    Job* job = find(id);
    if (job == nullptr) return;
    const std::int64_t before = job->sight.work.used_ns;
    job->sight = sight;
    job->sight.work.used_ns = before + std::clamp<std::int64_t>(sight.work.used_ns, 0, kTurnMax);
    for (std::uint64_t* bytes : {&job->sight.charged, &job->sight.persistent, &job->sight.peak})
        *bytes = std::min(*bytes, kBytesMax);
}

Turn Rotation::turn_of(Id id) const {
    for (const Job& job : jobs_)
        if (job.id == id) return job.turn;
    return {};
}

Rotation::Job* Rotation::find(Id id) {
    for (Job& job : jobs_)
        if (job.id == id) return &job;
    return nullptr;
}

// What stays between its iterations; until they are known, all that it may have.
std::uint64_t Rotation::persistent(const Job& job) {
    if (iterates(job)) return std::max(job.sight.persistent, std::uint64_t{1});
    return job.claim.persistent != 0 ? job.claim.persistent : job.claim.limit;
}

std::uint64_t Rotation::peak(const Job& job) {
    const std::uint64_t known = iterates(job) ? job.sight.peak : job.claim.peak;
    return std::max({known, persistent(job), job.sight.charged});
}

std::int64_t Rotation::turn(std::int64_t now) {
    account(now);
    admit();
    end_draining(now);
    take_turn(now);
    for (Job& job : jobs_) {
        if (job.id == holder_) {
            job.turn.limit = std::min(job.claim.limit, room(job));
            job.turn.right = jobs_.size() == 1    ? Right::open
                             : wanted_since_ >= 0 ? Right::turn
                                                  : Right::granted;
        } else {
            job.turn.limit = job.sight.charged;
            job.turn.right = Right::closed;
        }
    }
    if (draining_ != 0) return now + pace_.soon;
    if (holder_ == 0) return Windows::kNever;
    return wanted_since_ >= 0 ? now + pace_.look : Windows::kNever;
}

void Rotation::account(std::int64_t now) {
    const std::int64_t elapsed = std::min(last_turn_ == 0 ? 0 : now - last_turn_, kTurnMax);
    last_turn_ = now;
    std::int64_t least = INT64_MAX;
    for (Job& job : jobs_) {
        Sight& work = job.sight.work;
        const bool is_there = job.id == holder_ || job.id == draining_;
        const bool keeps = is_there && (work.in_flight || work.waiting) && is_wanted(job);
        work.used_ns = job.usage.charge(work.used_ns, keeps ? elapsed : 0);
        const bool is_at_work =
            work.waiting || work.in_flight || job.sight.inside || work.used_ns > 0;
        if (!work.waiting)
            job.waits_since = -1;
        else if (job.waits_since < 0)
            job.waits_since = now;
        if (is_at_work) job.active_at = now;
        job.used += work.used_ns;
        job.score += work.used_ns * kScoreUnit / std::max(job.claim.weight, 1);
        work.used_ns = 0;
        if (now - job.active_at <= pace_.idle_after) least = std::min(least, job.score);
    }
    // A job that was idle comes back with the least of the others: time not used is lost.
    for (Job& job : jobs_)
        if (now - job.active_at > pace_.idle_after && least != INT64_MAX)
            job.score = std::max(job.score, least);
}

void Rotation::admit() {
    for (Job& job : jobs_) {
        if (job.is_admitted) continue;
        if (!admits(job)) return;
        job.is_admitted = true;
    }
}

bool Rotation::admits(const Job& newcomer) const {
    std::uint64_t stays = persistent(newcomer);
    std::uint64_t largest = peak(newcomer) - persistent(newcomer);
    bool is_first = true;
    for (const Job& job : jobs_) {
        if (!job.is_admitted) continue;
        is_first = false;
        stays += persistent(job);
        largest = std::max(largest, peak(job) - persistent(job));
    }
    return is_first || stays + largest <= terms_.memory;
}

// Beside what the others hold and may still grow to. The holder counts as when its turn has ended.
std::uint64_t Rotation::room(const Job& job) const {
    std::uint64_t held = 0;
    for (const Job& other : jobs_) {
        if (other.id == job.id) continue;
        const bool may_grow = other.id != holder_;
        held += std::max(other.sight.charged, may_grow ? other.turn.limit : 0);
    }
    return held < terms_.memory ? terms_.memory - held : 0;
}

bool Rotation::can_run(const Job& job) const { return job.is_admitted && peak(job) <= room(job); }

bool Rotation::is_wanted(const Job& holder) const {
    return std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) {
        return job.id != holder.id && job.sight.work.waiting && job.is_admitted;
    });
}

// Asked only of who was seen after its gate let it begin no more.
bool Rotation::is_over(const Job& holder, std::int64_t now) const {
    const bool is_idle = !holder.sight.work.in_flight && !holder.sight.inside &&
                         now - std::max(holder.active_at, granted_at_) >= pace_.idle_release;
    if (!iterates(holder)) return is_idle || now - granted_at_ >= pace_.quantum;
    if (holder.sight.inside) return now - wanted_since_ >= pace_.longest;
    return is_idle || holder.sight.iterations > iterations_before_;
}

bool Rotation::goes_before(const Job& one, const Job& other) const {
    const auto left = [](const Job& job) {
        return job.claim.expected_ns > 0 ? job.claim.expected_ns - job.used : INT64_MAX;
    };
    switch (terms_.policy) {
        case Policy::pack: return one.waits_since < other.waits_since;
        case Policy::fair: return one.score < other.score;
        case Policy::fifo: return one.id < other.id;
        case Policy::srtf: return left(one) < left(other);
        case Policy::priority:
            return std::tuple(-one.claim.priority, one.score) <
                   std::tuple(-other.claim.priority, other.score);
    }
    return false;
}

Rotation::Job* Rotation::next() {
    Job* best = nullptr;
    for (Job& job : jobs_) {
        if (!job.sight.work.waiting || !can_run(job)) continue;
        if (best == nullptr || goes_before(job, *best)) best = &job;
    }
    return best;
}

// Whether the holder, which has just ended an iteration, would be before the chosen one if it came.
bool Rotation::is_awaited(const Job& holder, const Job& chosen, std::int64_t now) const {
    if (holder.sight.work.waiting || holder.sight.inside || !iterates(holder)) return false;
    Job soon = holder;
    soon.waits_since = now;
    return now - holder.active_at < pace_.idle_release && goes_before(soon, chosen);
}

void Rotation::end_draining(std::int64_t now) {
    Job* old = find(draining_);
    if (old == nullptr) {
        draining_ = 0;
    } else if (old->sight.inside && !was_stopped_) {
        // It began just before its gate was closed: that iteration is its turn.
        draining_ = 0;
        grant(*old, now);
    } else if (!old->sight.work.in_flight || now >= drain_until_) {
        draining_ = 0;
    }
}

void Rotation::take_turn(std::int64_t now) {
    if (jobs_.size() == 1 && draining_ == 0 && holder_ == 0) grant(jobs_.front(), now);
    Job* holder = find(holder_);
    if (holder != nullptr && holder->turn.right == Right::turn && wanted_since_ >= 0 &&
        is_over(*holder, now)) {
        Job* chosen = next();
        if (chosen == holder) {
            grant(*holder, now);
        } else if (chosen != nullptr && !is_awaited(*holder, *chosen, now)) {
            draining_ = holder_;
            drain_until_ = now + pace_.drain;
            was_stopped_ = holder->sight.inside;
            holder_ = 0;
            return;  // what it holds is known when it is seen behind its closed gate
        }
    }
    if (holder_ == 0 && draining_ == 0)
        if (Job* chosen = next()) grant(*chosen, now);
    holder = find(holder_);
    if (holder == nullptr || !is_wanted(*holder))
        wanted_since_ = -1;
    else if (wanted_since_ < 0)
        wanted_since_ = now;
}

void Rotation::grant(Job& job, std::int64_t now) {
    holder_ = job.id;
    job.turn.grant = ++grants_;
    job.waits_since = -1;
    granted_at_ = now;
    if (wanted_since_ >= 0) wanted_since_ = now;
    iterations_before_ = job.sight.iterations;
}

}  // namespace berth::vgpu::windows
