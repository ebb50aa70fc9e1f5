// SPDX-License-Identifier: Apache-2.0
//
// What does the order of jobs say of this one job, and is the bound of its wait true? For a job
// that a user asks about: worked out on demand, never by a decision.
//
// Trusts: ranks are up to date (cluster/jobs/ranks.h). Guarantees: each number is one by which
// decisions go; the cluster is the same after the call as before. Cost: O(jobs), one opinion of the
// learner, and what order_price.h says.
#pragma once

#include "cluster/cluster.h"
#include "model/answer/order_account.h"
#include "model/record.h"

namespace berth::scheduling {

// `record`: of a job of this cluster.
model::OrderAccount order_account(cluster::Cluster& cluster, const model::Policy& policy,
                                  model::TimePoint now, const model::JobRecord& record);

// Whether the job is due at that time at the latest if nothing happens until then. Lets time pass
// on the copy that it is given. A cluster of more than kBoundJobsMax jobs is not looked at: true.
inline constexpr std::size_t kBoundJobsMax = 10'000;
bool is_due_by(cluster::Cluster cluster, model::JobId job, model::TimePoint due);

}  // namespace berth::scheduling
