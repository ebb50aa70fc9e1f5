// SPDX-License-Identifier: Apache-2.0
#include "scheduling/order_account.h"

#include "base/gpu_time.h"
#include "ordering/likeness.h"
#include "scheduling/pieces.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::Job;
using model::EvidenceOf;
using model::JobOrder;
using model::OrderAccount;

MilliGpu held(const Job& job) {
    MilliGpu gpus{0};
    for (const cluster::PlacedTask& task : job.placed) gpus += task.place.gpus();
    return gpus;
}

std::string key_of(EvidenceOf of, const model::JobRecord& record) {
    switch (of) {
        case EvidenceOf::User: return record.user;
        case EvidenceOf::Name:
            return record.user + " named " + ordering::stem_of_name(record.spec.name);
        case EvidenceOf::Command: return ordering::stem_of_command(record.command);
        default: return {};
    }
}

// Its place among those that wait, and who of those that run is before it.
void add_place(const Cluster& cluster, const Job& job, base::PoolId pool, OrderAccount& account) {
    const cluster::Claim& claim = cluster.claim(pool, job.project);
    account.position = position_in_line(claim.lanes, job);
    for (const auto& [key, lane] : claim.lanes) account.waiting += static_cast<int>(lane.size());
    account.capacity = cluster.pool(pool).capacity;
    for (const auto& [id, other] : cluster.jobs()) {
        const bool runs_here =
            other.project == job.project && !other.placed.empty() && other.pool == pool;
        if (!runs_here || other.precedence() < job.precedence()) continue;
        ++account.jobs_before;
        account.gpus_before += held(other);
    }
}

// From which stage on a running job is preempted for it: ordering/ranks.h, of a waiting job's rank.
int preempted_from(const OrderAccount& account, const model::OrderRules& rules) {
    if (account.stage == 0 || account.turn == model::Turn::Granted) return 1;
    return account.stage + 1 + (account.by == JobOrder::Learned ? rules.hysteresis : 0);
}

std::optional<model::OrderPrice> price(const Cluster& cluster, model::TimePoint now, const Job& job,
                                       base::PoolId pool, const OrderAccount& account) {
    const auto& victims = cluster.claim(pool, job.project).victims;
    if (account.by == JobOrder::Age || victims.empty()) return {};
    const Job& candidate = cluster.job(victims.begin()->job);
    if (candidate.priority > job.priority) return {};
    const model::PauseCost cost = pause_cost(candidate, held(candidate), now);
    const ordering::Account of = cluster::account_of_order(cluster, candidate.id);
    return model::OrderPrice{
        .candidate = candidate.id,
        .loses_gpu_ms = cost.unsaved_gpu_ms + cost.restart_gpu_ms,
        .stage = of.stage,
        .preempted_from = preempted_from(account, cluster::order_rules(cluster, job.project)),
        .is_behind = candidate.precedence() < job.precedence(),
        .is_of_lower_priority = candidate.priority < job.priority};
}

}  // namespace

OrderAccount order_account(const Cluster& cluster, model::TimePoint now,
                           const model::JobRecord& record) {
    const Job& job = cluster.job(record.id);
    const ordering::Account of = cluster::account_of_order(cluster, job.id);
    OrderAccount account;
    account.is_ranked = job.preemptible;
    account.by = of.by;
    account.stage = of.stage;
    account.turn = of.turn;
    account.changes = of.changes;
    account.evidence = of.evidence;
    account.evidence.key = key_of(of.evidence.of, record);
    account.cost_counts = of.cost_counts;
    if (of.cost > 0) account.cost_gpu_ms = of.cost;
    if (!job.placed.empty() || !job.is_waiting()) return account;
    const base::PoolId pool = cluster.pools_of(job).front();
    add_place(cluster, job, pool, account);
    account.price = price(cluster, now, job, pool, account);
    if (of.due != ordering::kNever) account.due = of.due;
    return account;
}

bool is_due_by(Cluster cluster, model::JobId job, model::TimePoint due) {
    if (cluster.jobs().size() > kBoundJobsMax) return true;
    cluster::keep_ranks(cluster, due);
    return cluster::account_of_order(cluster, job).turn != model::Turn::NotDue;
}

}  // namespace berth::scheduling
