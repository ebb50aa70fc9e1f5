// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/preemption.h"

#include <algorithm>

#include "scheduling/passes/allocate.h"
#include "scheduling/passes/reservations_in_the_way.h"
#include "scheduling/place/place.h"
#include "scheduling/rights/quota_gate.h"
#include "scheduling/rights/reclaim.h"
#include "scheduling/rights/waste_budget.h"
#include "scheduling/victims/held_back.h"

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::Rule;
using model::TaskPlacement;

// Whether jobs of the job class have a right to GPUs that others hold.
bool has_right(const PoolView& view, ProjectId project, const cluster::JobClassKey& job_class,
               Rule rule) {
    const MilliGpu amount = ask_gpus(view, job_class);
    // Whether a job without GPUs stays within its quotas, each is asked when its turn comes.
    const bool has_gpus = amount > MilliGpu{0};
    if (rule == Rule::Reclaim && !has_gpus) return view.cluster.pool(view.pool).has_host_quota;
    if (rule == Rule::Reclaim) return may_reclaim(view, project, job_class.preemptible, amount);
    const auto& victims = view.claim(project).victims;
    return !victims.empty() && victims.begin()->priority_key < job_class.priority_key;
}

void add(Changed& changed, ProjectId project) {
    if (std::ranges::find(changed, project) == changed.end()) changed.push_back(project);
}

}  // namespace

Preemption::Preemption(Decision& decision)
    : decision_(decision), refused_(decision.cache().nodes()) {
    is_open_.resize(decision.pools().size());
}

void Preemption::forget(const PoolView& view) {
    decision_.cache().pool(view.pool).reclaimable.forget(view,
                                                         decision_.backfill(view).kept_gpus());
    refused_.forget();
}

bool Preemption::could_help(const PoolView& view, ProjectId project,
                            const cluster::JobClassKey& job_class, Rule rule) {
    if (!has_right(view, project, job_class, rule)) return false;
    const MilliGpu amount = ask_gpus(view, job_class);
    if (!job_class.preemptible && is_above_own_quota(view, project, amount)) return false;
    if (rule != Rule::Reclaim) return true;
    const Counting counting = counting_of(view, job_class.shape);
    return decision_.cache().pool(view.pool).reclaimable.is_possible(view, project, amount,
                                                                     counting);
}

Changed Preemption::serve(const PoolView& view, const Job& job, Rule rule,
                          Backfill::Opening& opening) {
    const MilliGpu amount = ask_gpus(view, job, job.ask());
    const Beneficiary beneficiary{job, job.ask(), amount, rule, home_of(job)};
    if (!job.preemptible && opening.keeps_share()) return {};  // backfill.h
    if (rule == Rule::Reclaim && !may_reclaim(view, job, amount)) return {};
    if (const auto wait = must_wait(view, beneficiary)) {
        decision_.wake_at(wait->until);
        return {};
    }
    Changed changed = pause_victims(view, beneficiary, opening);
    if (!changed.empty() || rule != Rule::Reclaim) return changed;
    return take_reservations(view, beneficiary, opening);
}

// What was promised to others gives way to an owner, with victims where that is not enough.
Changed Preemption::take_reservations(const PoolView& view, const Beneficiary& beneficiary,
                                      Backfill::Opening& opening) {
    opening.open();
    Changed changed = drop_reservations(view, beneficiary, opening);
    if (changed.empty()) return {};
    if (reserve_leavings(decision_, view, beneficiary.job, opening)) {
        add(changed, beneficiary.job.project);
    } else {
        for (const ProjectId project : pause_victims(view, beneficiary, opening)) {
            add(changed, project);
        }
    }
    return changed;
}

// Whether a job would lose what it was just given, and its project what it has within its quota.
bool Preemption::withdraws_from_owner(const PoolView& view, const FoundVictims& victims) {
    const VictimSearch& search = search_in(view);
    const auto lost_by = [&](ProjectId project) {
        MilliGpu lost{0};
        for (const std::size_t position : victims.units) {
            if (search.unit(position).project == project) lost += search.unit(position).gpus;
        }
        return lost;
    };
    return std::ranges::any_of(victims.units, [&](const std::size_t position) {
        const VictimUnit& unit = search.unit(position);
        return decision_.is_given_now(unit.job) &&
               view.allocated(unit.project) - lost_by(unit.project) < view.quota(unit.project);
    });
}

Changed Preemption::pause_victims(const PoolView& view, const Beneficiary& beneficiary,
                                  Backfill::Opening& opening) {
    const Job& job = beneficiary.job;
    const std::optional<std::uint64_t> opened = opening.which();
    const bool has_withdrawn_for = scheduling::has_withdrawn_for(decision_.attempt().known, job.id);
    if (!has_withdrawn_for && opened && refused_.covers(view, beneficiary, *opened)) return {};
    opening.open();
    const FoundVictims victims = find_victims(view, beneficiary);
    if (victims.protected_until) decision_.wake_at(*victims.protected_until);
    if (victims.units.empty()) {
        if (opened) refused_.add(view, beneficiary, *opened, victims.exceeds_capacity);
        return {};
    }
    // Where there is a promise that can be withdrawn instead: it has cost nothing yet.
    if (beneficiary.rule == Rule::Reclaim && withdraws_from_owner(view, victims)) {
        Changed changed = take_reservations(view, beneficiary, opening);
        if (!changed.empty()) return changed;
    }
    VictimSearch& search = search_in(view);
    note_withdrawals(view, beneficiary, search, victims);
    Changed changed{job.project};
    const bool wasteful = is_wasteful(view, beneficiary);
    for (const std::size_t position : victims.units) {
        const VictimUnit& unit = search.unit(position);
        decision_.pause(unit, beneficiary.rule, job.id, wasteful);
        search.take(position);
        add(changed, unit.project);
    }
    decision_.reserve(job.id, view.pool, beneficiary.rule, victims.places);
    return changed;
}

FoundVictims Preemption::find_victims(const PoolView& view, const Beneficiary& beneficiary) {
    VictimSearch& search = search_in(view);
    FoundVictims victims = search.find(beneficiary);
    // Others let it pass, who may be victims now that they have started.
    const bool others_started = started_before_ != decision_.plan().starts.size();
    const bool has_withdrawn_for =
        scheduling::has_withdrawn_for(decision_.attempt().known, beneficiary.job.id);
    if (victims.units.empty() && has_withdrawn_for && others_started) {
        decision_.see_started();
        search.look_again();
        started_before_ = decision_.plan().starts.size();
        victims = search.find(beneficiary);
    }
    return victims;
}

// Where it helps; a job that was promised it by this plan lets the owner pass in the next attempt.
Changed Preemption::drop_reservations(const PoolView& view, const Beneficiary& beneficiary,
                                      const Backfill::Opening& opening) {
    if (!may_have(view, beneficiary.job, opening)) return {};
    VictimSearch& search = search_in(view);
    const auto reservations = reservations_in_the_way(view, beneficiary, search);
    bool is_made_now = false;
    for (const JobId id : reservations) {
        if (!decision_.is_given_now(id)) continue;
        decision_.note_withdrawal(id, {beneficiary.job.id, view.pool, beneficiary.rule});
        is_made_now = true;
    }
    Changed changed;
    if (is_made_now) return changed;
    for (const JobId id : reservations) {
        const Job& holder = view.cluster.job(id);
        decision_.drop_reservation(id);
        add(changed, holder.project);
        refused_.forget();
    }
    return changed;
}

// No job both gains and loses in one plan: one that would lets the other pass in the next attempt.
// In the last one jobs it serves are untouchable, so that the other finds other victims or waits.
void Preemption::note_withdrawals(const PoolView& view, const Beneficiary& beneficiary,
                                  const VictimSearch& search, const FoundVictims& victims) {
    JobSet found(decision_.cache().nodes());
    for (const std::size_t unit : victims.units) {
        const JobId job = search.unit(unit).job;
        if (!decision_.is_given_now(job) || !found.insert(job).second) continue;
        decision_.note_withdrawal(job, {beneficiary.job.id, view.pool, beneficiary.rule});
    }
}

VictimSearch& Preemption::search_in(const PoolView& view) {
    VictimSearch& search = decision_.cache().pool(view.pool).victims;
    if (!is_open_[view.pool.index()]) {
        is_open_[view.pool.index()] = true;
        started_before_ = decision_.plan().starts.size();
        decision_.see_started();
        search.open(view);
    }
    return search;
}

void Preemption::note_moves(const PoolView& view) {
    refused_.forget();
    if (!is_open_[view.pool.index()]) return;
    for (const JobId job : *view.moved) search_in(view).take(view.cluster.job(job));
}

}  // namespace berth::scheduling
