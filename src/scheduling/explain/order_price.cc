// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/order_price.h"

#include "scheduling/backfill/backfill.h"
#include "scheduling/place/place.h"
#include "scheduling/victims/held_back.h"
#include "scheduling/victims/victims.h"

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::HeldBackBy;
using model::OrderPrice;

struct Answer {
    HeldBackBy by = HeldBackBy::Nothing;
    std::optional<TimePoint> until;
    JobId candidate;  // when it is another one than the last in order
};

// Asked now, then at each moment at which a minimum run ends, until it finds a victim.
Answer by_search(PoolView& view, const Beneficiary& beneficiary) {
    const TimePoint now = view.now;
    VictimSearch search;
    for (int look = 0; look < kLooksMax; ++look) {
        search.open(view);
        const FoundVictims found = search.find(beneficiary);
        if (!found.units.empty()) {
            const JobId candidate = search.unit(found.units.front()).job;
            if (view.now == now) return {HeldBackBy::Nothing, {}, candidate};
            return {HeldBackBy::MinimumRun, view.now, candidate};
        }
        if (!found.protected_until) return {HeldBackBy::Room, {}, {}};
        view.now = *found.protected_until;
    }
    return {HeldBackBy::MinimumRun, view.now, {}};  // until then at the least
}

// In the order in which a decision asks: preemption.cc.
Answer answer_for(PoolView& view, const Job& job, const Job& last) {
    if (last.priority_key() >= job.queue_priority()) return {HeldBackBy::Order, {}, {}};
    const Beneficiary beneficiary{job, job.ask(), ask_gpus(view, job, job.ask()),
                                  model::Rule::Preempt, home_of(job)};
    if (const auto wait = must_wait(view, beneficiary)) {
        const bool is_delay = wait->cause == model::Cause::PreemptionDelay;
        return {is_delay ? HeldBackBy::Delay : HeldBackBy::WasteBudget, wait->until, {}};
    }
    const cluster::Trial trial(view.cluster);
    NodeWindows windows;
    Backfill backfill;
    backfill.make(view, windows);
    Backfill::Opening opening(backfill, job);
    opening.open();
    return by_search(view, beneficiary);
}

// From which stage on a running job is preempted for it: ordering/ranks.h, of a waiting job's rank.
int preempted_from(const ordering::Account& account, const model::OrderRules& rules) {
    if (account.stage == 0 || account.turn == model::Turn::Granted) return 1;
    return account.stage + 1 + (account.by == model::JobOrder::Learned ? rules.hysteresis : 0);
}

}  // namespace

std::optional<OrderPrice> order_price(cluster::Cluster& cluster, const model::Policy& policy,
                                      TimePoint now, const Job& job, PoolId pool) {
    const auto& victims = cluster.claim(pool, job.project).victims;
    if (!has_ranks(cluster, job.project) || victims.empty()) return {};
    const JobId last = victims.begin()->job;
    if (cluster.job(last).priority > job.priority) return {};
    PoolView view = view_pool(cluster, policy, now, pool);
    const Answer in_use = answer_for(view, job, cluster.job(last));
    const Job& candidate = cluster.job(in_use.candidate.is_valid() ? in_use.candidate : last);
    return OrderPrice{.candidate = candidate.id,
                      .loses_gpu_ms = pause_price(candidate, candidate.in_use(), now),
                      .stage = cluster::account_of_order(cluster, candidate.id).stage,
                      .preempted_from = preempted_from(cluster::account_of_order(cluster, job.id),
                                                       cluster::order_rules(cluster, job.project)),
                      .is_behind = candidate.priority_key() < job.queue_priority(),
                      .is_of_lower_priority = candidate.priority < job.priority,
                      .held_back_by = in_use.by,
                      .until = in_use.until};
}

}  // namespace berth::scheduling
