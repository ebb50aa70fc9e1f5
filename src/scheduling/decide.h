// SPDX-License-Identifier: Apache-2.0
//
// What should be done now? A list of passes over one Decision (decide.cc), each a file:
//   nodes        those on which nothing runs join the pool they belong to, alone (node_moves)
//   reserved     jobs whose reserved GPUs are free start; void reservations are dropped
//                (reservations)
//   backfill     gangs that have waited long reserve GPUs; unused ones are kept (backfill)
//   serve        jobs in queue order (serve): idle GPUs first (allocate); then room is made by
//                moves (consolidation), by reclaim and by priority (preemption). Profile berth
//                does what helps a job when its turn comes, so an owner is served before a move
//                for a borrower; classic makes all moves, then all reclaims, then all preemptions
//   rehouse      a job that is paused and finds another place moves there instead (rehouse)
//   stale        gangs below their minimum for too long are paused whole (stale_gangs)
//   settle       when to decide again (settle)
// No work is paused for a job that must wait (preemption_delay, waste_budget).
//
// Trusts: `cluster` satisfies lifecycle/invariants.h. Guarantees: it is the same after the call
// as before (all trials are undone), but for ranks brought up to now (cluster/jobs/ranks.h); the
// same input gives the same plan; deciding again after the plan was carried out gives an empty
// plan, or else the plan says so by waking at once; a few such rounds end with an empty one (I5).
#pragma once

#include "cluster/cluster.h"
#include "model/answer/verdict.h"
#include "model/plan.h"
#include "model/policy/policy.h"
#include "scheduling/passes/decision_cache.h"

namespace berth::scheduling {

model::Plan decide(cluster::Cluster& cluster, const model::Policy& policy, model::TimePoint now);
// The same plan, faster when the cache is that of earlier decisions about this cluster.
model::Plan decide(cluster::Cluster& cluster, const model::Policy& policy, model::TimePoint now,
                   DecisionCache& cache);
// For a copy of the cluster: nodes join their pools on it at once, and the plan goes on from there.
model::Plan decide_on(cluster::Cluster& copy, const model::Policy& policy, model::TimePoint now);

}  // namespace berth::scheduling
