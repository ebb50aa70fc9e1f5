// SPDX-License-Identifier: Apache-2.0
#include "scheduling/standing_verdict.h"

#include <algorithm>
#include <vector>

namespace berth::scheduling {

using base::JobId;
using cluster::Cluster;
using cluster::Job;
using model::Plan;
using model::Reason;
using model::TaskPlacement;
using model::TimePoint;
using model::Verdict;

namespace {

bool overlaps(const TaskPlacement& task, const std::vector<TaskPlacement>& promised) {
    return std::ranges::any_of(promised, [&](const TaskPlacement& other) {
        return other.node == task.node && (other.gpu_mask & task.gpu_mask) != 0;
    });
}

// Jobs that leave for this one, or leave what is promised to it.
std::vector<JobId> leaving_for(const Cluster& cluster, const Plan& plan, JobId beneficiary,
                               const std::vector<TaskPlacement>& promised) {
    std::vector<JobId> leaving;
    const auto add = [&](JobId job) {
        if (std::ranges::find(leaving, job) == leaving.end()) leaving.push_back(job);
    };
    for (const model::Pause& pause : plan.pauses) {
        if (pause.beneficiary == beneficiary) add(pause.job);
        for (const auto& task : cluster.job(pause.job).placed) {
            const bool is_asked =
                std::ranges::find(pause.tasks, task.place.task) != pause.tasks.end();
            if (is_asked && overlaps(task.place, promised)) add(pause.job);
        }
    }
    for (const model::Move& move : plan.moves) {
        const auto& placed = cluster.job(move.job).placed;
        const bool is_in_the_way = std::ranges::any_of(
            placed, [&](const auto& task) { return overlaps(task.place, promised); });
        if (move.beneficiary == beneficiary || is_in_the_way) add(move.job);
    }
    for (const auto& [id, job] : cluster.jobs()) {
        if (!job.is_releasing()) continue;
        for (const auto& task : job.placed) {
            if (task.is_releasing && overlaps(task.place, promised)) add(id);
        }
    }
    return leaving;
}

}  // namespace

std::optional<Verdict> standing_verdict(const Cluster& cluster, const Plan& plan, const Job& job) {
    Verdict verdict;
    verdict.job = job.id;
    verdict.tasks_asked = job.ask();
    verdict.scope = cluster.projects()[job.project.index()].project.name;
    const base::PoolId pool = job.pool.is_valid() ? job.pool : cluster.pools_of(job).front();
    verdict.asks = cluster.demand(job.shape, pool) * job.ask();
    verdict.capacity = cluster.pool(pool).capacity;
    verdict.idle = cluster.pool(pool).free_total[0];
    const auto with = [&](Reason reason) {
        verdict.reason = reason;
        return verdict;
    };
    if (std::ranges::find(plan.starts, job.id, &model::Start::job) != plan.starts.end())
        return with(Reason::Starting);
    const auto reserved = std::ranges::find(plan.reservations, job.id, &model::Reservation::job);
    const bool keeps_hold =
        job.hold && std::ranges::find(plan.dropped, job.id) == plan.dropped.end();
    if (reserved != plan.reservations.end() || keeps_hold) {
        verdict.blockers =
            leaving_for(cluster, plan, job.id, keeps_hold ? job.hold->tasks : reserved->tasks);
        if (verdict.blockers.size() > kBlockersMax) verdict.blockers.resize(kBlockersMax);
        return with(Reason::WaitingForPause);
    }
    if (job.is_waiting() && cluster.membership().strays.contains(job.stay.node)) {
        verdict.scope = cluster.node_name(job.stay.node), verdict.detail = "kept there";
        return with(Reason::Unhealthy);
    }
    const Reason held = job.last_start == TimePoint{} ? Reason::Held : Reason::Paused;
    if (!job.may_run) return with(job.is_parked ? Reason::Parked : held);
    return {};
}

}  // namespace berth::scheduling
