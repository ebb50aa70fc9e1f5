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

std::string key_of(EvidenceOf known, const model::JobRecord& record) {
    switch (known) {
        case EvidenceOf::User: return record.user;
        case EvidenceOf::Name:
            return record.user + " named " + ordering::stem_of_name(record.spec.name);
        case EvidenceOf::Command: return ordering::stem_of_command(record.command);
        default: return {};
    }
}

// Whether it runs or is to start there, or waits for GPUs there.
bool is_in_pool(const Cluster& cluster, const Job& job, base::PoolId pool) {
    if (!job.placed.empty() || job.reservation) return job.pool == pool;
    const auto pools = cluster.pools_of(job);
    return job.is_waiting() && std::ranges::find(pools, pool) != pools.end();
}

// Its place among those that wait, and who of those that run is before it.
void add_place(const Cluster& cluster, const Job& job, base::PoolId pool, OrderAccount& account) {
    const cluster::Claim& claim = cluster.claim(pool, job.project);
    account.position = position_in_queue(claim.queue, job);
    for (const auto& [key, job_class] : claim.queue)
        account.waiting += static_cast<int>(job_class.size());
    account.capacity = cluster.pool(pool).capacity;
    for (const auto& [id, other] : cluster.jobs()) {
        if (other.project != job.project) continue;
        if (other.priority > job.priority && is_in_pool(cluster, other, pool)) {
            ++account.jobs_of_higher_priority;
        }
        const bool runs_here = !other.placed.empty() && other.pool == pool;
        if (!runs_here || other.priority_key() < job.priority_key()) continue;
        ++account.jobs_before;
        account.gpus_before += other.in_use();
    }
}

}  // namespace

OrderAccount order_account(Cluster& cluster, const model::Policy& policy, model::TimePoint now,
                           const model::JobRecord& record) {
    const Job& job = cluster.job(record.id);
    const ordering::Account known = cluster::account_of_order(cluster, job.id);
    OrderAccount account;
    account.is_ranked = job.preemptible;
    account.by = known.by;
    account.stage = known.stage;
    account.turn = known.turn;
    account.changes = known.changes;
    account.evidence = known.evidence;
    account.evidence.key = key_of(known.evidence.from, record);
    account.cost_counts = known.cost_counts;
    if (known.cost > 0) account.cost_gpu_ms = known.cost;
    if (!job.placed.empty() || !job.is_waiting()) return account;
    const base::PoolId pool = cluster.pools_of(job).front();
    add_place(cluster, job, pool, account);
    account.price = order_price(cluster, policy, now, job, pool);
    const bool is_bound = known.due != ordering::kNever && account.jobs_of_higher_priority == 0;
    if (is_bound) account.due = known.due;
    return account;
}

bool is_due_by(Cluster cluster, model::JobId job, model::TimePoint due) {
    if (cluster.jobs().size() > kBoundJobsMax) return true;
    cluster::keep_ranks(cluster, due);
    return cluster::account_of_order(cluster, job).turn != model::Turn::NotDue;
}

}  // namespace berth::scheduling
