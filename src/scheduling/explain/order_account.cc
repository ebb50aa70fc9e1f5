// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/order_account.h"

#include <algorithm>

#include "ordering/likeness.h"
#include "scheduling/explain/order_price.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::Job;
using model::EvidenceOf;
using model::OrderAccount;

std::string key_of(EvidenceOf of, const model::JobRecord& record) {
    switch (of) {
        case EvidenceOf::User: return record.user;
        case EvidenceOf::Name:
            return record.user + " named " + ordering::stem_of_name(record.spec.name);
        case EvidenceOf::Command: return ordering::stem_of_command(record.command);
        default: return {};
    }
}

// Whether it runs or is to start there, or waits for GPUs there.
bool is_in_pool(const Cluster& cluster, const Job& job, base::PoolId pool) {
    if (!job.placed.empty() || job.hold) return job.pool == pool;
    const auto pools = cluster.pools_of(job);
    return job.is_waiting() && std::ranges::find(pools, pool) != pools.end();
}

// Its place among those that wait, and who of those that run is before it.
void add_place(const Cluster& cluster, const Job& job, base::PoolId pool, OrderAccount& account) {
    const cluster::Claim& claim = cluster.claim(pool, job.project);
    account.position = position_in_line(claim.lanes, job);
    for (const auto& [key, lane] : claim.lanes) account.waiting += static_cast<int>(lane.size());
    account.capacity = cluster.pool(pool).capacity;
    for (const auto& [id, other] : cluster.jobs()) {
        if (other.project != job.project) continue;
        if (other.priority > job.priority && is_in_pool(cluster, other, pool)) {
            ++account.jobs_of_higher_priority;
        }
        const bool runs_here = !other.placed.empty() && other.pool == pool;
        if (!runs_here || other.precedence() < job.precedence()) continue;
        ++account.jobs_before;
        account.gpus_before += other.held();
    }
}

}  // namespace

OrderAccount order_account(Cluster& cluster, const model::Policy& policy, model::TimePoint now,
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
    account.price = order_price(cluster, policy, now, job, pool);
    const bool is_bound = of.due != ordering::kNever && account.jobs_of_higher_priority == 0;
    if (is_bound) account.due = of.due;
    return account;
}

bool is_due_by(Cluster cluster, model::JobId job, model::TimePoint due) {
    if (cluster.jobs().size() > kBoundJobsMax) return true;
    cluster::keep_ranks(cluster, due);
    return cluster::account_of_order(cluster, job).turn != model::Turn::NotDue;
}

}  // namespace berth::scheduling
