// SPDX-License-Identifier: Apache-2.0
#include "scheduling/rights/minimum_run.h"

#include <algorithm>

namespace berth::scheduling {
namespace {

bool is_above_or_at(const PoolView& view, ProjectId upper, ProjectId lower) {
    for (ProjectId at = lower; at.is_valid(); at = view.parent(at)) {
        if (at == upper) return true;
    }
    return false;
}

// What the job or a tree node says, and not the policy.
std::optional<model::Duration> stated_minimum_run(const PoolView& view, const cluster::Job& job,
                                                  model::Rule rule, ProjectId asking) {
    if (job.min_run != cluster::kOfProject) return job.min_run;
    const bool is_reclaim = rule == model::Rule::Reclaim;
    ProjectId at = is_reclaim ? parting(view, job.project, asking) : job.project;
    for (; at != cluster::kRoot; at = view.parent(at)) {
        const model::Project& project = view.cluster.projects()[at.index()].project;
        const auto& declared = is_reclaim ? project.reclaim_min_run : project.preempt_min_run;
        if (declared) return declared;
    }
    return {};
}

}  // namespace

ProjectId parting(const PoolView& view, ProjectId victim, ProjectId asking) {
    ProjectId at = victim;
    while (view.parent(at) != cluster::kRoot && !is_above_or_at(view, view.parent(at), asking)) {
        at = view.parent(at);
    }
    return at;
}

TimePoint protected_until(const PoolView& view, const cluster::Job& job, model::Rule rule,
                          ProjectId asking) {
    const auto stated = stated_minimum_run(view, job, rule, asking);
    if (stated) return job.last_start + *stated;
    return protected_by_policy(view.policy, job.last_start, job.restart_cost);
}

TimePoint protected_by_policy(const model::Policy& policy, TimePoint last_start,
                              model::Duration restart_cost) {
    return last_start + std::max(policy.min_run, restart_cost * policy.min_run_restarts);
}

TimePoint protected_by_statement(const PoolView& view, const cluster::Job& job, model::Rule rule,
                                 ProjectId asking) {
    const auto stated = stated_minimum_run(view, job, rule, asking);
    return job.last_start + stated.value_or(model::Duration{0});
}

bool are_minimum_runs_stated(const cluster::Cluster& cluster) {
    return cluster.minimum_runs() > 0 || has_minimum_runs(cluster);
}

bool has_minimum_runs(const cluster::Cluster& cluster) {
    return std::ranges::any_of(cluster.projects(), [](const cluster::ProjectState& state) {
        return state.project.reclaim_min_run || state.project.preempt_min_run;
    });
}

}  // namespace berth::scheduling
