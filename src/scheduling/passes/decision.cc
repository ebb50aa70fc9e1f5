// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/decision.h"

#include <algorithm>
#include <utility>

#include "scheduling/place/place.h"

namespace berth::scheduling {

using model::Rule;
using model::TaskPlacement;

namespace {

// Most plans have few of each.
template <typename Entry>
void add(std::vector<Entry>& entries, Entry entry) {
    if (entries.empty()) entries.reserve(4);
    entries.push_back(std::move(entry));
}

}  // namespace

Decision::Decision(cluster::Cluster& cluster, const model::Policy& policy, TimePoint now,
                   DecisionCache& cache, const Attempt& attempt)
    : cluster_(cluster),
      policy_(policy),
      now_(now),
      cache_(cache),
      attempt_(attempt),
      start_of_(cache.nodes()),
      given_now_(cache.nodes()),
      started_now_(cache.nodes()),
      started_reserved_(cache.nodes()),
      unseen_(cache.nodes()),
      moved_(cache.nodes()),
      withdrawals_(cache.nodes()),
      has_untouchable_(attempt.is_last) {}

Decision::~Decision() {
    for (PoolView& view : views_) cache_.pool(view.pool).shares = std::move(view.shares);
}

void Decision::look_at_pools() {
    for (std::size_t i = 0; i < cluster_.pools().size(); ++i) {
        const PoolId pool{static_cast<PoolId::Rep>(i)};
        views_.push_back(
            view_pool(cluster_, policy_, now_, pool, std::move(cache_.pool(pool).shares)));
        views_.back().started_now = &started_now_;
        views_.back().started_reserved = &started_reserved_;
        views_.back().unseen = &unseen_;
        views_.back().moved = &moved_;
        if (attempt_.is_last) views_.back().untouchable = &given_now_;
        if (cluster_.pools().size() == 1) break;  // there is nothing to prefer
        for (const cluster::Claim& claim : cluster_.pools()[i].claims) {
            for (const auto& [key, job_class] : claim.queue) {
                last_preference_ = std::max(last_preference_, key.preference);
            }
        }
    }
}

void Decision::start(JobId job, PoolId pool, Rule rule, std::span<const TaskPlacement> tasks) {
    const bool is_new = cluster_.job(job).active == 0;
    if (is_new) unseen_.insert(job);
    if (is_new && rule == Rule::Allocate) started_now_.insert(job);
    cluster_.place(job, pool, tasks);
    given_now_.insert(job);
    const auto [position, is_line] = start_of_.try_emplace({job, rule}, plan_.starts.size());
    if (is_line) {
        add(plan_.starts, {job, rule, {tasks.begin(), tasks.end()}});
        return;
    }
    std::vector<TaskPlacement>& known = plan_.starts[position->second].tasks;
    known.insert(known.end(), tasks.begin(), tasks.end());
}

void Decision::start_reserved(JobId job) {
    const PoolId pool = cluster_.job(job).pool;
    const auto& promised = cluster_.job(job).reservation->tasks;
    const Places tasks(promised.begin(), promised.end());
    if (cluster_.job(job).active == 0) started_reserved_.insert(job);
    cluster_.drop_reservation(job);
    start(job, pool, Rule::Hold, tasks);
}

void Decision::reserve(JobId job, PoolId pool, Rule rule, std::span<const TaskPlacement> tasks) {
    given_now_.insert(job);
    const TimePoint deadline = reserved_until(job, tasks);
    cluster_.reserve(job, pool, tasks, deadline, rule);
    add(plan_.reservations, {job, rule, {tasks.begin(), tasks.end()}, deadline});
    wake_at(deadline);
}

TimePoint Decision::reserved_until(JobId job, std::span<const TaskPlacement> tasks) const {
    model::Duration longest{0};
    const auto wait_for = [&](JobId id) {
        const cluster::Job& leaver = cluster_.job(id);
        if (!leaver.is_releasing()) return;
        longest = std::max(longest, leaver.pause_grace.value_or(policy_.pause_grace));
    };
    wait_for(job);
    NodeId looked_at;
    for (const TaskPlacement& task : tasks) {
        if (std::exchange(looked_at, task.node) == task.node) continue;
        std::ranges::for_each(cluster_.jobs_on(task.node), wait_for);
    }
    return now_ + longest + policy_.reservation_hold;
}

void Decision::drop_reservation(JobId job) {
    cluster_.drop_reservation(job);
    add(plan_.dropped, job);
}

void Decision::pause(const model::Pause& pause) {
    cluster_.release(pause.job, pause.tasks);
    plan_.pauses.push_back(pause);
}

void Decision::pause(const VictimUnit& unit, Rule rule, JobId beneficiary, bool is_wasteful) {
    // What it was promised by an earlier plan is void: no job grows while asked to leave.
    if (cluster_.job(unit.job).reservation) drop_reservation(unit.job);
    cluster_.release(unit.job, unit.ranks);
    const auto& ranks = unit.ranks;
    const model::PauseCost cost = unit.cost_at(now_);
    const PoolId pool = cluster_.job(unit.job).pool;
    if (is_wasteful) views_[pool.index()].wasted_gpu_ms += cost.unsaved_gpu_ms;
    if (plan_.pauses.empty() || plan_.pauses.back().job != unit.job ||
        plan_.pauses.back().beneficiary != beneficiary) {
        add(plan_.pauses, {unit.job,
                           {ranks.begin(), ranks.end()},
                           unit.takes_whole_job,
                           rule,
                           beneficiary,
                           cost,
                           is_wasteful});
        return;
    }
    model::Pause& known = plan_.pauses.back();
    known.tasks.insert(known.tasks.end(), ranks.begin(), ranks.end());
    known.whole_job |= unit.takes_whole_job;
    known.cost.unsaved_gpu_ms += cost.unsaved_gpu_ms;
    known.cost.restart_gpu_ms += cost.restart_gpu_ms;
}

void Decision::move(std::span<const model::Move> moves, PoolId pool) {
    for (const model::Move& move : moves) {
        cluster_.release(move.job, cluster_.job(move.job).ranks());
    }
    for (const model::Move& move : moves) {
        const TimePoint deadline = reserved_until(move.job, move.tasks);
        cluster_.reserve(move.job, pool, move.tasks, deadline, move.rule);
        given_now_.insert(move.job);
        moved_.insert(move.job);
        plan_.moves.push_back(move);
        plan_.moves.back().deadline = deadline;
        views_[pool.index()].wasted_gpu_ms += move.cost.unsaved_gpu_ms;
        wake_at(deadline);
    }
}

void Decision::move_instead(JobId job, PoolId pool, std::span<const TaskPlacement> tasks) {
    const auto pause = std::ranges::find(plan_.pauses, job, &model::Pause::job);
    const model::Pause paused = *pause;
    plan_.pauses.erase(pause);
    const model::Move move{job,         {tasks.begin(), tasks.end()},
                           paused.rule, paused.beneficiary,
                           paused.cost, paused.is_wasteful};
    this->move(std::span(&move, 1), pool);
}

void Decision::wake_at(TimePoint time) {
    plan_.next_wakeup = std::min(plan_.next_wakeup.value_or(time), time);
}

}  // namespace berth::scheduling
