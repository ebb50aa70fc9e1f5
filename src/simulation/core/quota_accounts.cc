// SPDX-License-Identifier: Apache-2.0
#include "simulation/core/quota_accounts.h"

#include <algorithm>

#include "base/check.h"
#include "lifecycle/describe.h"
#include "scheduling/shares/overcommitment.h"

namespace berth::simulation {
namespace {

cluster::Cluster built(const model::Description& description) {
    auto state = lifecycle::from_description(description);
    BERTH_CHECK(state.has_value(), "replay() was given an impossible cluster");
    return std::move(state->cluster);
}

}  // namespace

Accounts::Accounts(const CoreExperiment& experiment)
    : trace_(experiment.trace), cluster_(built(experiment.cluster)) {
    cluster::keep_ranks(cluster_, experiment.policy.order, {});
    most_.assign(cluster_.pools().size(), 1);
    for (const cluster::NodeState& node : cluster_.nodes()) {
        if (node.health != model::NodeHealth::Ready) continue;
        const std::int64_t weight = cluster_.pool(node.pool).weight_of(node);
        weights_.insert(weights_.end(), node.gpus, weight);
        std::int64_t& most = most_[node.pool.index()];
        most = std::max(most, weight);
    }
    is_overcommitted_.assign(cluster_.pools().size(), false);
    for (const model::Overcommitment& found : scheduling::overcommitments(cluster_)) {
        is_overcommitted_[cluster_.find_pool(found.pool).index()] = true;
    }
    for (const TraceJob& job : trace_) {
        const std::string& pool = job.pool.empty() ? model::kDefaultPool : job.pool;
        accounts_.push_back({cluster_.find_pool(pool), cluster_.find_project(job.project)});
    }
}

std::vector<Account> Accounts::path_of(Account account) const {
    std::vector<Account> path;
    for (; account.project != cluster::kRoot;
         account.project = cluster_.projects()[account.project.index()].parent) {
        path.push_back(account);
    }
    return path;
}

base::MilliGpu Accounts::quota_of(Account account) const {
    return std::min(claim(account).quota, claim(account).limit);
}

base::MilliGpu Accounts::limit_of(Account account) const { return claim(account).limit; }

base::MilliGpu Accounts::counted(const CoreReplay& run, const RunInterval& interval) const {
    const TraceJob& job = trace_[static_cast<std::size_t>(interval.job)];
    std::int64_t milli = 0;
    for (const std::int32_t gpu : run.replay.gpus_of(interval, job.gpus)) {
        milli += job.share.value * weights_[static_cast<std::size_t>(gpu)] / 1000;
    }
    return base::MilliGpu{milli};
}

base::MilliGpu Accounts::asked(reference::JobIndex job) const {
    const TraceJob& one = trace_[static_cast<std::size_t>(job)];
    return base::MilliGpu{one.amount().value * most_[account_of(job).pool.index()] / 1000};
}

bool Accounts::is_overcommitted(base::PoolId pool) const { return is_overcommitted_[pool.index()]; }

}  // namespace berth::simulation
