// SPDX-License-Identifier: Apache-2.0
#include "control/launch_order.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "lifecycle/idle/idle_rule.h"
#include "model/job/packing.h"
#include "model/job/task_groups.h"

namespace berth::control {
namespace {

bool may_have_processes(const model::JobRecord& job) {
    switch (job.state) {
        case model::JobState::Starting:
        case model::JobState::Running:
        case model::JobState::Pausing:
        case model::JobState::Cancelling: return true;
        default: return !job.frozen.empty();
    }
}

// A share is also a cap: by the policy, in its pool, or for its project or one above it.
bool has_strict_shares(const Terms& terms, const model::JobRecord& record) {
    const cluster::Cluster& cluster = terms.cluster;
    const cluster::Job& job = cluster.job(record.id);
    bool is_strict = terms.policy.strict_shares;
    if (job.pool.is_valid()) is_strict |= cluster.pool(job.pool).strict_shares;
    for (base::ProjectId at = job.project; at != cluster::kRoot;
         at = cluster.projects()[at.index()].parent) {
        is_strict |= cluster.projects()[at.index()].project.strict_shares;
    }
    return is_strict;
}

// Its calls to GPUs are watched: it asked to be parked after this time, or a rule may park it.
std::optional<base::Duration> silence_of_interest(const Terms& terms,
                                                  const model::JobRecord& record) {
    if (record.spec.park_after.value_or(base::Duration{-1}) > base::Duration{0})
        return record.spec.park_after;
    if (!lifecycle::is_parkable(record.spec)) return {};
    const auto rule = lifecycle::idle_rule(terms.cluster, terms.policy, record.id);
    if (!rule || rule->act != model::IdleAct::Park) return {};
    return rule->after;
}

}  // namespace

std::vector<ports::TaskLaunch> task_launches(const Terms& terms, const model::JobRecord& record) {
    const bool is_strict = has_strict_shares(terms, record);
    std::vector<ports::TaskLaunch> launches;
    std::vector<model::TaskPlacement> tasks = record.tasks;
    std::ranges::sort(tasks, {}, &model::TaskPlacement::task);
    std::map<model::NodeId, int> on_node;
    for (const model::TaskPlacement& task : tasks) {
        const model::TaskGroup* group = model::group_of(record.spec, task.task);
        launches.push_back({task.task, on_node[task.node]++, terms.cluster.node_name(task.node),
                            gpu_indices(task.gpu_mask), group == nullptr ? "" : group->name,
                            task.share, model::asked(record.spec).gpu_memory,
                            record.spec.request.gpu_memory_max,
                            is_strict ? task.share : record.spec.request.cap});
    }
    return launches;
}

std::vector<int> gpu_indices(std::uint64_t mask) {
    std::vector<int> indices;
    for (; mask != 0; mask &= mask - 1) indices.push_back(std::countr_zero(mask));
    return indices;
}

bool may_change_caps(const model::EventBody& event) {
    return std::holds_alternative<model::PoolSet>(event) ||
           std::holds_alternative<model::ProjectSet>(event) ||
           std::holds_alternative<model::PolicySet>(event);
}

std::vector<model::JobId> sharing_jobs(const lifecycle::State& state) {
    std::vector<model::JobId> jobs;
    for (const auto& [id, job] : state.jobs) {
        if (!job.tasks.empty() && !job.spec.request.is_whole()) jobs.push_back(id);
    }
    return jobs;
}

ports::LaunchOrder launch_order(const Terms& terms, const model::JobRecord& record,
                                model::LaunchSpec spec, const model::GpuProfile* known) {
    ports::LaunchOrder order;
    order.attempt = {record.id, record.attempts};
    order.job_name = record.spec.name;
    order.project = record.spec.project;
    order.kind = record.spec.kind;
    order.spec = std::move(spec);
    order.may_share = record.spec.may_share && !record.is_parted;
    if (known != nullptr) order.profile = *known;
    order.resumes = record.attempts > 1;
    const bool may_be_parked = record.frozen.empty() || record.pause_way.may_park;
    if (may_be_parked) order.park_after = silence_of_interest(terms, record);
    order.is_elastic = record.spec.tasks_max > record.spec.tasks_min;
    order.tasks = task_launches(terms, record);
    return order;
}

std::vector<ports::BegunAttempt> begun_attempts(const lifecycle::State& state,
                                                const model::Policy& policy) {
    std::vector<ports::BegunAttempt> attempts;
    for (const auto& [id, job] : state.jobs) {
        if (!may_have_processes(job)) continue;
        attempts.push_back({{id, job.attempts},
                            lifecycle::incarnation_of(state, job),
                            task_launches({state.cluster, policy}, job)});
    }
    return attempts;
}

}  // namespace berth::control
