// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/rotation.h"

#include <algorithm>

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
    at_once_.judge_anew();
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
    at_once_.judge_anew();
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

std::int64_t Rotation::turn(std::int64_t now) {
    account(now);
    admit();
    if (!is_measuring_ && at_once_.is_time(terms_, pace_, jobs_, now)) {
        let_all();
        return Windows::kNever;
    }
    end_draining(now);
    take_turn(now);
    for (Job& job : jobs_) {
        if (job.id != holder_ || !is_measuring_) job.turn.is_alone = false;
        if (job.id == holder_) {
            job.turn.limit = std::min(job.claim.limit, room(job));
            const bool is_asked_each = wanted_since_ >= 0 && !is_measuring_;
            job.turn.right = jobs_.size() == 1 ? Right::open
                             : is_asked_each   ? Right::turn
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
    const bool is_by_turns = !at_once_.is_now() && !is_measuring_;
    std::int64_t idle = 0;
    std::int64_t least = INT64_MAX;
    for (Job& job : jobs_) {
        Sight& work = job.sight.work;
        const bool is_there = job.id == holder_ || job.id == draining_;
        const bool keeps = is_there && (work.in_flight || work.waiting) && is_wanted(job);
        const std::int64_t worked = work.used_ns;
        work.used_ns = job.usage.charge(work.used_ns, keeps ? elapsed : 0);
        const bool is_at_work =
            work.waiting || work.in_flight || job.sight.inside || work.used_ns > 0;
        if (is_there && is_wanted(job)) idle += elapsed - worked;
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
    if (is_by_turns) at_once_.count(elapsed, idle);
    // A job that was idle comes back with the least of the others: time not used is lost.
    for (Job& job : jobs_)
        if (now - job.active_at > pace_.idle_after && least != INT64_MAX)
            job.score = std::max(job.score, least);
}

// From the end of an iteration on, when all others wait; until it is known or takes too long.
void Rotation::measure_alone(Job& holder, std::int64_t now) {
    if (!others_wait(holder, jobs_)) {
        holder.turn.is_alone = false;
    } else if (!holder.turn.is_alone && !holder.sight.inside) {
        holder.turn.is_alone = true;
        iterations_before_ = holder.sight.iterations;
    }
    const bool is_done =
        holder.turn.is_alone && holder.sight.iterations >= iterations_before_ + pace_.alone;
    const bool is_idle = !holder.sight.work.in_flight && !holder.sight.inside &&
                         now - std::max(holder.active_at, granted_at_) >= pace_.alone_idle;
    if (!is_done && !is_idle && now - granted_at_ < pace_.alone_longest) return;
    is_measuring_ = holder.turn.is_alone = false;
    holder.measure_after = now + pace_.alone_again;
}

// Each has room for its peak, and its part of what is left.
void Rotation::let_all() {
    const std::uint64_t spare = (terms_.memory - peaks(jobs_)) / jobs_.size();
    holder_ = draining_ = 0;
    wanted_since_ = -1;
    for (Job& job : jobs_) {
        if (job.turn.right != Right::granted) job.turn.grant = ++grants_;
        job.turn.right = Right::granted;
        job.turn.limit = std::min(job.claim.limit, peak(job) + spare);
    }
}

void Rotation::admit() {
    for (Job& job : jobs_) {
        if (job.is_admitted) continue;
        if (!fits(job, jobs_, terms_.memory)) return;
        job.is_admitted = true;
    }
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

Rotation::Job* Rotation::next() {
    Job* best = nullptr;
    for (Job& job : jobs_) {
        if (!job.sight.work.waiting || !can_run(job)) continue;
        if (best == nullptr || goes_before(terms_.policy, job, *best)) best = &job;
    }
    return best;
}

// Whether the holder, which has just ended an iteration, would be before the chosen one if it came.
bool Rotation::is_awaited(const Job& holder, const Job& chosen, std::int64_t now) const {
    if (holder.sight.work.waiting || holder.sight.inside || !iterates(holder)) return false;
    Job soon = holder;
    soon.waits_since = now;
    return now - holder.active_at < pace_.idle_release && goes_before(terms_.policy, soon, chosen);
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
    if (holder == nullptr || jobs_.size() == 1) is_measuring_ = false;
    if (is_measuring_) measure_alone(*holder, now);
    if (holder != nullptr && !is_measuring_ && holder->turn.right == Right::turn &&
        wanted_since_ >= 0 && is_over(*holder, now)) {
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
    is_measuring_ = jobs_.size() > 1 && is_to_be_measured(job, now);
}

}  // namespace berth::vgpu::windows
