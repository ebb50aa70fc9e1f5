// SPDX-License-Identifier: Apache-2.0
//
// What does a replay count as in the books of a cluster with quotas? Who pays for a job, in which
// pool, and how much: GPUs as the pool exchanges them. Knows the description alone, nothing of what
// was decided.
#pragma once

#include "cluster/cluster.h"
#include "simulation/core/core_replay.h"

namespace berth::simulation {

struct Account {
    base::PoolId pool;
    base::ProjectId project;

    auto operator<=>(const Account&) const = default;
};

class Accounts {
  public:
    // Trusts: trace_for() accepted the trace, replay() the experiment.
    explicit Accounts(const CoreExperiment& experiment);

    const cluster::Cluster& cluster() const { return cluster_; }
    Account account_of(reference::JobIndex job) const {
        return accounts_[static_cast<std::size_t>(job)];
    }
    // The project's own first, then its departments'.
    std::vector<Account> path_of(Account account) const;
    // What is guaranteed there; at most the limit.
    base::MilliGpu quota_of(Account account) const;
    base::MilliGpu limit_of(Account account) const;
    // What an interval counts as.
    base::MilliGpu counted(const CoreReplay& run, const RunInterval& interval) const;
    // The most that a job may come to count as.
    base::MilliGpu asked(reference::JobIndex job) const;
    // Whether the quotas of a pool, or of a department in it, promise more than there is.
    bool is_overcommitted(base::PoolId pool) const;

  private:
    const cluster::Claim& claim(Account account) const {
        return cluster_.claim(account.pool, account.project);
    }

    const Trace& trace_;
    cluster::Cluster cluster_;
    std::vector<Account> accounts_;  // by job
    std::vector<std::int64_t> weights_;  // by GPU, in thousandths
    std::vector<std::int64_t> most_;  // by pool, the greatest of its GPUs'
    std::vector<bool> is_overcommitted_;  // by pool
};

}  // namespace berth::simulation
