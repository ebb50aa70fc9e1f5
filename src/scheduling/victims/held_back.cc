// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/held_back.h"

#include <algorithm>

#include "scheduling/rights/minimum_run.h"
#include "scheduling/rights/preemption_delay.h"
#include "scheduling/rights/reclaim.h"
#include "scheduling/rights/waste_budget.h"
#include "scheduling/victims/victims.h"

namespace berth::scheduling {
namespace {

using model::Cause;
using model::Rule;

struct Protected {
    MilliGpu gpus{0};
    TimePoint last;  // when the last of them is so no more
};

// What its minimum run protects: what is above its minimum was lent for as long as it idled.
MilliGpu core_of(const cluster::Job& job) {
    const MilliGpu in_use = job.in_use(cluster::Job::Leaving::Ignored);
    if (job.elastic == model::Elastic::Restart || job.active <= job.tasks_min) return in_use;
    return MilliGpu{in_use.value * job.tasks_min / job.active};
}

// Whom the job may have preempted, but for their minimum run.
Protected protected_from(const PoolView& view, const Beneficiary& beneficiary) {
    const cluster::Job& asking = beneficiary.job;
    const bool is_own = beneficiary.rule == Rule::Preempt;
    const ReclaimLedger ledger = is_own ? ReclaimLedger() : ReclaimLedger(view, beneficiary);
    // The smallest unit decides whether anything may be taken.
    const UnitSize least{beneficiary.amount == MilliGpu{0} ? MilliGpu{0} : MilliGpu{1}};
    const Terms terms = terms_of(view, beneficiary);
    const auto until = terms.by_rank ? protected_by_statement : protected_until;
    Protected all;
    for (const auto& [id, job] : view.cluster.jobs()) {
        if (!job.is_victim() || job.pool != view.pool) continue;
        const bool may_be_asked = is_own
                                      ? job.project == asking.project && reaches(view, terms, job)
                                      : ledger.may_take(job.project, least);
        if (!may_be_asked) continue;
        const TimePoint its = until(view, job, beneficiary.rule, asking.project);
        if (its <= view.now) continue;
        all.last = std::max(all.last, its);
        all.gpus += core_of(job);
    }
    return all;
}

std::optional<HeldBack> by_minimum_runs(const PoolView& view, const Beneficiary& beneficiary) {
    const Protected all = protected_from(view, beneficiary);
    if (all.gpus == MilliGpu{0} && beneficiary.amount > MilliGpu{0}) return {};
    VictimSearch search;
    search.open(view);
    const FoundVictims now = search.find(beneficiary);
    if (!now.units.empty() || !now.protected_until) return {};
    PoolView later = view;
    later.now = all.last;
    search.open(later);
    if (search.find(beneficiary).units.empty()) return {};
    return HeldBack{Cause::MinRuntime, *now.protected_until, all.gpus};
}

}  // namespace

std::optional<HeldBack> must_wait(const PoolView& view, const Beneficiary& beneficiary) {
    if (const auto until = delayed_until(view, beneficiary.job)) {
        return HeldBack{Cause::PreemptionDelay, *until};
    }
    if (!is_waste_spent(view, view.wasted_gpu_ms) || !is_wasteful(view, beneficiary)) return {};
    return HeldBack{Cause::WasteBudgetSpent, waste_renewal(view.now)};
}

std::optional<HeldBack> held_back(const PoolView& view, const cluster::Job& job, MilliGpu amount) {
    const auto& victims = view.claim(job.project).victims;
    const bool may_preempt =
        !victims.empty() && victims.begin()->priority_key < job.queue_priority();
    for (const Rule rule : {Rule::Reclaim, Rule::Preempt}) {
        const bool may = rule == Rule::Preempt ? may_preempt : may_reclaim(view, job, amount);
        if (!may) continue;
        const Beneficiary beneficiary{job, job.ask(), amount, rule, home_of(job)};
        if (const auto wait = must_wait(view, beneficiary)) return wait;
        if (const auto wait = by_minimum_runs(view, beneficiary)) return wait;
    }
    return {};
}

}  // namespace berth::scheduling
