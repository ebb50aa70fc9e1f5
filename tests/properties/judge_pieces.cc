// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "group_rule.h"
#include "judge.h"

namespace berth::proof {

namespace {

// Who runs whole and wants more takes nothing from anybody for having had little.
cluster::PriorityKey priority_key_of(const cluster::Job& job) {
    const bool only_grows = job.active > 0 && job.lacking == 0;
    return {job.priority, only_grows ? ordering::kLastRank : job.rank};
}

// Whether it leaves for that one, as far as their priorities say. For one that stays, a gang of the
// same priority only if it was submitted later.
bool comes_after(const cluster::Cluster& cluster, const cluster::Job& job,
                 const cluster::Job& other) {
    const bool is_older = std::pair(job.created, job.id) < std::pair(other.created, other.id);
    const bool is_gang = job.tasks_min * cluster.shape(job.shape).request.gpus >= 2;
    if (!other.preemptible && job.priority == other.priority && is_older && is_gang) return false;
    return job.priority_key() < priority_key_of(other);
}

}  // namespace

std::vector<JudgedPiece> Judge::pieces(const Want& want) const {
    std::vector<JudgedPiece> pieces;
    for (const auto& [id, job] : cluster_.jobs()) {
        if (!job.preemptible || job.active == 0 || job.pool != pool_) continue;
        const bool is_own = job.project == want.job->project;
        if (want.rule == model::Rule::Preempt ? !is_own || !comes_after(cluster_, job, *want.job)
                                              : is_own)
            continue;
        const bool keeps_core = is_protected(want, job);
        const bool is_kept = started_reserved_.contains(id) && is_bound(want) &&
                             is_young(job, model::Rule::Preempt, job.project);
        std::map<int, model::TaskPlacement> running;
        for (const auto& task : job.placed) {
            if (!task.is_releasing) running.emplace(task.place.task, task.place);
        }
        // The first piece stops all of it, the others cost nothing more.
        const bool stops_all = job.elastic == model::Elastic::Restart;
        std::int64_t all = 0;
        const bool has_to_stop = job.is_releasing() || job.fresh_tasks > 0;
        for (const auto& [rank, task] : running) all += has_to_stop ? 0 : gpus_of(task);
        const auto groups = groups_of(cluster_, job);
        std::vector<int> left = running_in(groups, job);
        const bool takes_groups = grows_by_groups(cluster_, job);
        const auto is_spare = [&](const auto& task) {
            return can_spare(cluster_, job, left, group_of(groups, task.first));
        };
        while (!running.empty()) {
            auto next = std::find_if(running.rbegin(), running.rend(), is_spare);
            const bool is_core = next == running.rend();
            if (is_core) next = running.rbegin();
            if ((is_core || stops_all) && keeps_core) break;
            std::int64_t held = 0;
            JudgedPiece piece{id, job.project, job.priority_key(), {}, 0, 0, 0, is_core};
            const std::size_t taken = group_of(groups, next->first);
            const auto goes_along = [&](const auto& task) {
                return is_core || (takes_groups && group_of(groups, task.first) == taken);
            };
            do {
                piece.tasks.push_back(next->second);
                piece.gpus += counted(piece.tasks.back());
                held += gpus_of(piece.tasks.back());
                --left[group_of(groups, next->first)];
                running.erase(std::next(next).base());
                next = std::find_if(running.rbegin(), running.rend(), goes_along);
            } while (next != running.rend());
            const auto unsaved = std::max((now_ - job.last_saved).count(), std::int64_t{0});
            std::int64_t stopped = held;
            if (stops_all) stopped = std::exchange(all, 0);
            const std::int64_t restart = stopped * job.restart_cost.count() / 1000;
            piece.cost = stopped * unsaved / 1000 + restart;
            piece.expected_cost = job.saves_when_asked ? restart : piece.cost;
            if (fresh_.contains(id)) piece.cost = piece.expected_cost = 0;
            piece.is_last = running.empty();
            piece.is_kept = is_kept && (is_core || stops_all);
            pieces.push_back(std::move(piece));
        }
    }
    return pieces;
}

}  // namespace berth::proof
