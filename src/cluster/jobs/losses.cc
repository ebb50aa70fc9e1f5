// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/losses.h"

#include <algorithm>

#include "cluster/cluster.h"

namespace berth::cluster {
namespace {

// What its minimum run protects, at least: nothing of one that is about to start anew.
MilliGpu protected_part(const Job& job) {
    if (std::cmp_equal(job.fresh_tasks, job.placed.size())) return {0};
    const MilliGpu in_use = job.in_use(Job::Leaving::Ignored);
    if (job.elastic == model::Elastic::Restart || job.active <= job.core_tasks()) return in_use;
    return {in_use.value / job.active * job.core_tasks()};
}

}  // namespace

TimePoint LossBook::protected_until(const Job& job) const {
    if (job.min_run != kOfProject) return job.last_start + job.min_run;
    return job.last_start + std::max(runs_.least, job.restart_cost * runs_.restarts);
}

void LossBook::count(Losses& losses, const Shape& shape, const Job& job, int sign,
                     InTrial in_trial) {
    const TimePoint until = protected_until(job);
    const bool is_protected = until > now_;
    losses.jobs += sign;
    if (is_protected) {
        losses.protected_jobs += sign;
        losses.protected_gpus += protected_part(job) * sign;
    }
    if (sign > 0 && (in_trial == InTrial::No || job.fresh_tasks > 0)) {
        losses.largest = std::max(losses.largest, job.in_use(Job::Leaving::Ignored));
    }
    if (in_trial == InTrial::Yes) return;
    losses.stamp = ++last_stamp_;
    const LossKey key = loss_key(shape, job);
    auto& cheapest_first = losses.cheapest_first[is_protected && key.is_protectable ? 1 : 0];
    if (sign > 0) {
        cheapest_first.insert(key);
        if (is_protected) losses.protected_until.insert({until, job.id});
    } else {
        cheapest_first.erase(key);
        if (is_protected) losses.protected_until.erase({until, job.id});
    }
}

void LossBook::set(const MinimumRuns& runs, TimePoint now) {
    runs_ = runs;
    now_ = now;
}

void LossBook::end_protection(Losses& losses, const Shape& shape, const Job& job) {
    losses.protected_gpus -= protected_part(job);
    --losses.protected_jobs;
    losses.protected_until.erase(losses.protected_until.front());
    losses.stamp = ++last_stamp_;
    const LossKey key = loss_key(shape, job);
    if (!key.is_protectable) return;
    losses.cheapest_first[1].erase(key);
    losses.cheapest_first[0].insert(key);
}

void Cluster::keep_losses(const MinimumRuns& runs, TimePoint now) {
    if (open_trials_ > 0) return;
    const bool is_only_later = loss_book_.is_only_later(runs, now);
    loss_book_.set(runs, now);
    for (PoolState& pool : pools_) {
        for (Claim& claim : pool.claims) {
            if (!is_only_later) claim.losses = {};
            const auto& ends = claim.losses.protected_until;
            while (!ends.empty() && ends.front().first <= now) {
                const Job& job = this->job(ends.front().second);
                loss_book_.end_protection(claim.losses, shape(job.shape), job);
            }
        }
    }
    if (is_only_later) return;
    for (const auto& [id, job] : jobs_) {
        if (job.is_victim()) count_loss(job, +1);
    }
}

}  // namespace berth::cluster
