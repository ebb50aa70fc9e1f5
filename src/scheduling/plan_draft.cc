// SPDX-License-Identifier: Apache-2.0
#include "scheduling/plan_draft.h"

#include <algorithm>

#include "scheduling/place.h"

namespace berth::scheduling {

using model::Rule;
using model::TaskPlacement;

namespace {

// Most plans have few of each.
template <typename Line>
void add(std::vector<Line>& lines, Line line) {
    if (lines.empty()) lines.reserve(4);
    lines.push_back(std::move(line));
}

}  // namespace

void PlanDraft::start(JobId job, PoolId pool, Rule rule, std::span<const TaskPlacement> tasks) {
    cluster_.place(job, pool, tasks);
    winners_.insert(job);
    const auto [position, is_new] = start_of_.try_emplace({job, rule}, plan_.starts.size());
    if (is_new) {
        add(plan_.starts, {job, rule, {tasks.begin(), tasks.end()}});
        return;
    }
    std::vector<TaskPlacement>& known = plan_.starts[position->second].tasks;
    known.insert(known.end(), tasks.begin(), tasks.end());
}

void PlanDraft::start_from_hold(JobId job) {
    const PoolId pool = cluster_.job(job).pool;
    const auto& promised = cluster_.job(job).hold->tasks;
    const Places tasks(promised.begin(), promised.end());
    if (cluster_.job(job).active == 0) honoured_.insert(job);
    cluster_.drop_hold(job);
    start(job, pool, Rule::Hold, tasks);
}

void PlanDraft::reserve(JobId job, PoolId pool, Rule rule, std::span<const TaskPlacement> tasks) {
    const TimePoint deadline = now_ + policy_.pause_grace + policy_.hold;
    winners_.insert(job);
    cluster_.hold(job, pool, tasks, deadline, rule);
    add(plan_.reservations, {job, rule, {tasks.begin(), tasks.end()}});
    wake_at(deadline);
}

void PlanDraft::drop_hold(JobId job) {
    cluster_.drop_hold(job);
    add(plan_.dropped, job);
}

void PlanDraft::pause(const model::Pause& pause) {
    cluster_.release(pause.job, pause.tasks);
    plan_.pauses.push_back(pause);
}

void PlanDraft::pause(const Piece& piece, Rule rule, JobId beneficiary, bool is_wasteful) {
    // What it was promised by an earlier plan is void: nobody grows while asked to leave.
    if (cluster_.job(piece.job).hold) drop_hold(piece.job);
    cluster_.release(piece.job, piece.ranks);
    const auto& ranks = piece.ranks;
    const model::PauseCost cost = piece.cost_at(now_);
    if (plan_.pauses.empty() || plan_.pauses.back().job != piece.job ||
        plan_.pauses.back().beneficiary != beneficiary) {
        add(plan_.pauses, {piece.job,
                           {ranks.begin(), ranks.end()},
                           piece.takes_whole_job,
                           rule,
                           beneficiary,
                           cost,
                           is_wasteful});
        return;
    }
    model::Pause& known = plan_.pauses.back();
    known.tasks.insert(known.tasks.end(), ranks.begin(), ranks.end());
    known.whole_job |= piece.takes_whole_job;
    known.cost.unsaved_gpu_ms += cost.unsaved_gpu_ms;
    known.cost.restart_gpu_ms += cost.restart_gpu_ms;
}

void PlanDraft::move(std::span<const model::Move> moves, PoolId pool) {
    for (const model::Move& move : moves) {
        cluster_.release(move.job, cluster_.job(move.job).ranks());
    }
    const TimePoint deadline = now_ + policy_.pause_grace + policy_.hold;
    for (const model::Move& move : moves) {
        cluster_.hold(move.job, pool, move.tasks, deadline, move.rule);
        winners_.insert(move.job);
        plan_.moves.push_back(move);
    }
    wake_at(deadline);
}

void PlanDraft::move_instead(JobId job, PoolId pool, std::span<const TaskPlacement> tasks) {
    const auto pause = std::ranges::find(plan_.pauses, job, &model::Pause::job);
    const model::Pause paused = *pause;
    plan_.pauses.erase(pause);
    const model::Move move{job,         {tasks.begin(), tasks.end()},
                           paused.rule, paused.beneficiary,
                           paused.cost, paused.is_wasteful};
    this->move(std::span(&move, 1), pool);
}

bool PlanDraft::has_opening_start() const {
    return std::ranges::any_of(plan_.starts, [&](const model::Start& start) {
        const cluster::Job& job = cluster_.job(start.job);
        const bool is_share = start.tasks.front().share != base::kWholeGpu;
        return job.stay.node.is_valid() || (is_share && cluster_.pool(job.pool).has_fixed_quota);
    });
}

void PlanDraft::wake_at(TimePoint time) {
    plan_.next_wakeup = std::min(plan_.next_wakeup.value_or(time), time);
}

}  // namespace berth::scheduling
