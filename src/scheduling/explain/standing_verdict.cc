// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/standing_verdict.h"

#include <algorithm>
#include <vector>

namespace berth::scheduling {

using base::JobId;
using cluster::Cluster;
using cluster::Job;
using model::Cause;
using model::Plan;
using model::TaskPlacement;
using model::TimePoint;
using model::Verdict;

namespace {

// Tasks that leave: by the plan, or since before it.
std::vector<std::pair<JobId, TaskPlacement>> leaving_tasks(const Cluster& cluster,
                                                           const Plan& plan) {
    std::vector<std::pair<JobId, TaskPlacement>> leaving;
    for (const model::Pause& pause : plan.pauses) {
        for (const auto& task : cluster.job(pause.job).placed) {
            const bool is_asked =
                std::ranges::find(pause.tasks, task.place.task) != pause.tasks.end();
            if (is_asked) leaving.emplace_back(pause.job, task.place);
        }
    }
    for (const model::Move& move : plan.moves) {
        for (const auto& task : cluster.job(move.job).placed) {
            leaving.emplace_back(move.job, task.place);
        }
    }
    for (const auto& [id, job] : cluster.jobs()) {
        if (!job.is_releasing()) continue;
        for (const auto& task : job.placed) {
            if (task.is_releasing) leaving.emplace_back(id, task.place);
        }
    }
    return leaving;
}

// What beside GPUs a task that leaves a node frees of what the other asks there: "CPU and memory".
std::string host_freed(const Cluster& cluster, base::NodeId node, base::ShapeId leaver,
                       base::ShapeId asks) {
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    std::vector<std::string> freed;
    const auto add = [&](const cluster::HostUse& use, std::int64_t left, std::int64_t asked,
                         std::string name) {
        const bool is_counted = use.capacity != cluster::kUnaccounted && left > 0 && asked > 0;
        if (is_counted) freed.push_back(std::move(name));
    };
    add(state.cpu, cluster.cpu_on(leaver, node), cluster.cpu_on(asks, node), "CPU");
    add(state.memory, cluster.memory_on(leaver, node), cluster.memory_on(asks, node), "memory");
    const cluster::NodeResources& resources = cluster.resources();
    for (const cluster::ResourceAsk& ask : resources.asked(asks)) {
        add(resources.on(node, ask.resource), resources.asked(leaver, ask.resource), ask.amount,
            resources.name_asked(asks, ask));
    }
    std::string text;
    for (const std::string& name : freed) {
        text += (text.empty() ? "" : &name == &freed.back() ? " and " : ", ") + name;
    }
    return text;
}

void add_blocker(Verdict& verdict, JobId job) {
    auto& blockers = verdict.blockers;
    if (blockers.size() >= kBlockersMax) return;
    if (std::ranges::find(blockers, job) == blockers.end()) blockers.push_back(job);
}

// What is being freed for a job, and by whom. It may be GPUs, what stands beside them, or nothing:
// then others use what it was promised.
void tell_what_leaves(const Cluster& cluster, const Plan& plan, const Job& job,
                      const std::vector<TaskPlacement>& promised, Verdict& verdict) {
    verdict.because(Cause::GpusReleasing);
    for (const model::Pause& pause : plan.pauses) {
        if (pause.beneficiary == job.id) add_blocker(verdict, pause.job);
    }
    for (const model::Move& move : plan.moves) {
        if (move.beneficiary == job.id) add_blocker(verdict, move.job);
    }
    const auto leaving = leaving_tasks(cluster, plan);
    for (const auto& [id, left] : leaving) {
        const bool is_asked = std::ranges::any_of(promised, [&](const TaskPlacement& task) {
            return task.node == left.node && (task.gpu_mask & left.gpu_mask) != 0;
        });
        if (is_asked) add_blocker(verdict, id);
    }
    const bool has_gpus = cluster.shape(job.shape).request.gpus > 0;
    if (has_gpus && !verdict.blockers.empty()) return;
    for (const auto& [id, left] : leaving) {
        if (std::ranges::find(promised, left.node, &TaskPlacement::node) == promised.end())
            continue;
        const std::string freed = host_freed(cluster, left.node, cluster.job(id).shape, job.shape);
        if (freed.empty()) continue;
        add_blocker(verdict, id);
        verdict.because(Cause::HostReleasing);
        verdict.what = freed;
        verdict.scope = cluster.node_name(left.node);
    }
    if (!verdict.blockers.empty()) return;
    for (const TaskPlacement& task : promised) {
        if (!cluster.others().is_used(task.node)) continue;
        verdict.because(Cause::PromiseUsedByOthers);
        verdict.scope = cluster.node_name(task.node);
    }
}

}  // namespace

std::optional<Verdict> standing_verdict(const Cluster& cluster, const Plan& plan, const Job& job) {
    Verdict verdict;
    verdict.job = job.id;
    verdict.tasks_asked = job.ask();
    verdict.scope = cluster.projects()[job.project.index()].project.name;
    const base::PoolId pool = job.pool.is_valid() ? job.pool : cluster.pools_of(job).front();
    verdict.asks = cluster.demand(job.shape, pool) * job.ask() +
                   cluster::gpus_of_lacking_companions(cluster, job, pool, &Cluster::demand);
    verdict.capacity = cluster.pool(pool).capacity;
    verdict.idle = cluster.pool(pool).free_total[0];
    const auto reserved = std::ranges::find(plan.reservations, job.id, &model::Reservation::job);
    const bool keeps_hold =
        job.reservation && std::ranges::find(plan.dropped, job.id) == plan.dropped.end();
    if (std::ranges::find(plan.starts, job.id, &model::Start::job) != plan.starts.end()) {
        verdict.because(Cause::Starting);
    } else if (keeps_hold) {
        tell_what_leaves(cluster, plan, job, job.reservation->tasks, verdict);
    } else if (reserved != plan.reservations.end()) {
        tell_what_leaves(cluster, plan, job, reserved->tasks, verdict);
    } else if (job.is_waiting() && cluster.membership().misplaced.contains(job.pinned.node)) {
        verdict.scope = cluster.node_name(job.pinned.node);
        verdict.because(Cause::PinnedNodeLeaves);
    } else if (!job.may_run) {
        const bool has_run = job.last_start != TimePoint{};
        verdict.because(job.is_parked ? Cause::Parked
                        : has_run     ? Cause::PausedByUser
                                      : Cause::OnHold);
    } else {
        return {};
    }
    return verdict;
}

}  // namespace berth::scheduling
