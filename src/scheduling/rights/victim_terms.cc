// SPDX-License-Identifier: Apache-2.0
#include "scheduling/rights/victim_terms.h"

#include <algorithm>

namespace berth::scheduling {
namespace {

TimePoint job_protected_until(const PoolView& view, const Terms& terms, const cluster::Job& job) {
    if (terms.by_rank) return protected_by_statement(view, job, terms.rule(), terms.project);
    return protected_until(view, job, terms.rule(), terms.project);
}

}  // namespace

bool is_owner(const PoolView& view, const Beneficiary& beneficiary) {
    return beneficiary.amount == MilliGpu{0} ||
           is_within_quota(view, beneficiary.job.project, beneficiary.amount);
}

std::optional<Came> later_than(const Beneficiary& beneficiary) {
    const bool is_asked = !beneficiary.job.preemptible && beneficiary.rule == model::Rule::Preempt;
    return is_asked ? std::optional(came(beneficiary.job)) : std::nullopt;
}

bool reaches(const PoolView& view, const Terms& terms, const cluster::Job& job) {
    const bool may_be_spared = terms.later_than && job.priority == terms.priority_key.priority &&
                               came(job) < *terms.later_than;
    const bool is_gang = view.cluster.shape(job.shape).request.gpus * job.tasks_min > 1;
    return terms.reaches(job.priority_key()) && !(may_be_spared && is_gang);
}

// Unless it binds everybody, the minimum run binds a project that wants more than its quota, never
// an owner that wants back its quota; inside a project it binds batch work, never interactive.
Terms terms_of(const PoolView& view, const Beneficiary& beneficiary) {
    const cluster::Job& job = beneficiary.job;
    const bool binds_all = view.policy.min_run_binds_all;
    if (beneficiary.rule == model::Rule::Preempt) {
        const bool by_rank = has_ranks(view.cluster, job.project);
        const bool counts = !by_rank || are_minimum_runs_stated(view.cluster);
        return {.from_own = true,
                .project = job.project,
                .priority_key = job.queue_priority(),
                .later_than = later_than(beneficiary),
                .minimum_run = counts && (binds_all || job.preemptible),
                .by_rank = by_rank,
                .asks_who = by_rank || has_minimum_runs(view.cluster)};
    }
    Terms terms = terms_of_reclaim(view, job.project);
    terms.minimum_run = binds_all || !is_owner(view, beneficiary);
    return terms;
}

Terms terms_of_reclaim(const PoolView& view, ProjectId project) {
    Terms terms;
    terms.project = project;
    terms.minimum_run = true;
    terms.asks_who = has_minimum_runs(view.cluster);
    return terms;
}

bool allows(const PoolView& view, const Terms& terms, const VictimUnit& unit) {
    if (is_protected(view, terms, unit) || has(view.untouchable, unit.job)) return false;
    // Else it would be paused for it in the next decision.
    const bool is_preempted_next =
        terms.from_own && (terms.priority_key.priority > unit.priority_key.priority ||
                           (terms.later_than && !terms.minimum_run));
    const bool keeps = (terms.minimum_run || terms.by_rank) && !is_preempted_next;
    if (keeps && is_started_reserved(view, unit, terms.rule(), terms.project)) return false;
    if (!terms.from_own) return true;
    if (unit.project != terms.project || !terms.reaches(unit.priority_key)) return false;
    return !terms.later_than || reaches(view, terms, view.cluster.job(unit.job));
}

// The minimum run is not of elastic tasks: those were lent for as long as they idled, unless
// taking them stops the whole job.
bool is_protected(const PoolView& view, const Terms& terms, const VictimUnit& unit) {
    if (!terms.minimum_run || !unit.is_protectable || unit.is_started_now) return false;
    const TimePoint until = terms.asks_who
                                ? job_protected_until(view, terms, view.cluster.job(unit.job))
                                : unit.protected_until;
    return until > view.now;
}

bool is_started_reserved(const PoolView& view, const VictimUnit& unit, model::Rule rule,
                         ProjectId asking) {
    if (!unit.is_protectable || !has(view.started_reserved, unit.job)) return false;
    const cluster::Job& job = view.cluster.job(unit.job);
    return protected_until(view, job, rule, asking) > job.last_start;
}

bool knows_protected(const PoolView& view, const Terms& terms, ProjectId project) {
    const auto& ends = view.claim(project).losses.protected_until;
    return !terms.asks_who && (ends.empty() || ends.front().first > view.now);
}

MilliGpu most_allowed(const PoolView& view, const Terms& terms, ProjectId project) {
    const cluster::Claim& claim = view.claim(project);
    const MilliGpu all = claim.usage.allocated - claim.usage.not_preemptible;
    const bool are_less = terms.minimum_run && knows_protected(view, terms, project);
    return are_less ? all - claim.losses.protected_gpus : all;
}

int jobs_allowed(const PoolView& view, const Terms& terms, ProjectId project) {
    const cluster::Losses& losses = view.claim(project).losses;
    if (terms.from_own) return 0;  // priority does not distinguish them
    if (!terms.minimum_run) return losses.jobs;
    return knows_protected(view, terms, project) ? losses.jobs - losses.protected_jobs : 0;
}

std::optional<TimePoint> next_protection_end(const PoolView& view, const Terms& terms,
                                             ProjectId project) {
    if (!terms.minimum_run) return {};
    const cluster::Claim& claim = view.claim(project);
    if (knows_protected(view, terms, project)) {
        for (const auto& [until, id] : claim.losses.protected_until) {
            if (terms.reaches(view.cluster.job(id).priority_key())) return until;
        }
        return {};
    }
    std::optional<TimePoint> first;
    for (const cluster::VictimKey& key : claim.victims) {
        if (!terms.reaches(key.priority_key)) break;
        const TimePoint until = job_protected_until(view, terms, view.cluster.job(key.job));
        if (until > view.now) first = std::min(first.value_or(until), until);
    }
    return first;
}

}  // namespace berth::scheduling
