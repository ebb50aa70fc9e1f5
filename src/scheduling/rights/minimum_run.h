// SPDX-License-Identifier: Apache-2.0
//
// Until when is a started job left alone? Rule R11. Its own minimum run counts first. Else that of
// the nearest tree node that says one: for preemption from its project upwards; for reclaim from
// the topmost node that holds it and not the one who asks, upwards from there, so that what a
// department says of itself binds those outside and not its own projects. Else the policy's.
//
// Only the core of a gang is left alone: surplus was lent for as long as it idled. Whom it binds:
// with Policy::min_run_binds_all all; else neither an owner that takes back its quota nor
// interactive work inside its project. Where ranks tell the jobs of a project apart, the
// policy's own binds none of them either: who runs is ahead by the order's hysteresis.
#pragma once

#include "model/plan.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// The topmost node above the victim's project, or that itself, that the asking one is not below.
ProjectId parting(const PoolView& view, ProjectId victim, ProjectId asking);

TimePoint protected_until(const PoolView& view, const cluster::Job& job, model::Rule rule,
                          ProjectId asking);

// By the policy alone, of a job that neither itself nor a tree node says anything of.
TimePoint protected_by_policy(const model::Policy& policy, TimePoint last_start,
                              model::Duration restart_cost);

// By what the job or a tree node says alone, not the policy.
TimePoint protected_by_statement(const PoolView& view, const cluster::Job& job, model::Rule rule,
                                 ProjectId asking);
// Whether any job or tree node says one.
bool are_minimum_runs_stated(const cluster::Cluster& cluster);

// Whether any project or department says a minimum run: then who asks matters.
bool has_minimum_runs(const cluster::Cluster& cluster);

// Whether between jobs of this project stated ones alone count.
inline bool has_ranks(const cluster::Cluster& cluster, ProjectId project) {
    return cluster::order_rules(cluster, project).by != model::JobOrder::Age;
}

}  // namespace berth::scheduling
