// SPDX-License-Identifier: Apache-2.0
//
// Whom does a minimum run protect, and from whom?
#include <algorithm>
#include <vector>

#include "judge.h"

namespace berth::proof {

using cluster::View;

bool Judge::is_protected(const Want& want, const cluster::Job& victim) const {
    if (fresh_.contains(victim.id)) return false;
    // By rank others were paused for it a moment ago, or only what is stated counts.
    const bool by_rank = goes_by_rank(want);
    if (by_rank && started_reserved_.contains(victim.id)) {
        return is_young(victim, want.rule, want.job->project);
    }
    return is_bound(want) && is_young(victim, want.rule, want.job->project, by_rank);
}

bool Judge::is_bound(const Want& want) const {
    if (policy_.min_run_binds_all) return true;
    if (want.rule == model::Rule::Preempt) return want.job->preemptible;
    return !is_owner(room(View::Coming), want);
}

bool Judge::goes_by_rank(const Want& want) const {
    if (want.rule != model::Rule::Preempt) return false;
    // The nearest to the job counts.
    for (const ProjectId at : path(want.job->project)) {
        const auto& said = cluster_.projects()[at.index()].project.job_order;
        if (said) return *said != model::JobOrder::Age;
    }
    return policy_.order.by != model::JobOrder::Age;
}

bool Judge::is_young(const cluster::Job& job, model::Rule rule, ProjectId by,
                     bool only_stated) const {
    const bool preempts = rule == model::Rule::Preempt;
    model::Duration minimum{0};
    if (!only_stated) {
        minimum = std::max(policy_.min_run, job.restart_cost * policy_.min_run_restarts);
    }
    const std::vector<ProjectId> asking = path(by);
    const std::vector<ProjectId> own = path(job.project);
    // From the top down: what is said below counts more, for reclaim down to where they part.
    for (std::size_t level = own.size(); level-- > 0;) {
        const auto& project = cluster_.projects()[own[level].index()].project;
        const auto& said = preempts ? project.preempt_min_run : project.reclaim_min_run;
        if (said) minimum = *said;
        if (!preempts && std::ranges::find(asking, own[level]) == asking.end()) break;
    }
    if (job.min_run >= model::Duration{0}) minimum = job.min_run;
    return (started_reserved_.contains(job.id) ? now_ : job.last_start) + minimum > now_;
}

}  // namespace berth::proof
