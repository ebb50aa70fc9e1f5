// SPDX-License-Identifier: Apache-2.0
//
// Which running job of its project would be preempted for a job that waits, and what keeps that
// from happening now? Asked on demand, never by a decision.
//
// Trusts: ranks are up to date (cluster/jobs/ranks.h). Guarantees: goes by the order, the delay,
// the budget, the backfill reservations and the search for victims of a decision itself, so that
// where nothing holds the job back the next decision preempts for it; the cluster is the same after
// the call as before. Cost: that of a search for victims, once more for each moment at which a
// minimum run ends first, at most kLooksMax times.
#pragma once

#include <optional>

#include "model/answer/order_account.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

inline constexpr int kLooksMax = 64;

// Of a job that waits without GPUs; nothing where the order tells none of its project apart, or
// where no running job of its priority or a lower one can be preempted.
std::optional<model::OrderPrice> order_price(cluster::Cluster& cluster, const model::Policy& policy,
                                             TimePoint now, const cluster::Job& job, PoolId pool);

}  // namespace berth::scheduling
