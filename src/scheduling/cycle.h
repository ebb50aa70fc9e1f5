// SPDX-License-Identifier: Apache-2.0
//
// What should be done now? The whole decision, stage by stage; the only file of this folder that
// knows all the others:
//   0. nodes        those on which nothing runs join the pool they belong to, alone (node_moves)
//   1. promises     jobs whose promised GPUs are free start; void promises are dropped (promises)
//      then gangs that have waited long book (bookings), and what idles of it is kept from others
//   2. allocate     idle GPUs to the next job in order (fair_share, queue_order, job_order, place)
//   3. consolidate  running jobs move so that a larger one fits (moves)
//   4. reclaim      owners take back what was lent (reclaim, victims)
//   5. preempt      inside a project, higher priority goes first (victims)
//   6. rehouse      who was paused and finds another place moves there instead (moves)
//   7. stale        gangs below their minimum for too long are paused whole (stale_gangs)
// Stages 4 and 5 pause nobody for a job that must wait (preemption_delay, waste_budget).
// What has been decided is kept in step with the cluster by plan_draft.
//
// Trusts: `cluster` satisfies lifecycle/invariants.h. Guarantees: it is the same after the call
// as before (all trials are undone), but for ranks brought up to now (cluster/ranks.h); the same
// input gives the same plan; deciding again after the plan was carried out gives an empty plan,
// or else the plan says so by waking at once; a few such rounds end with an empty one (I5).
#pragma once

#include "cluster/cluster.h"
#include "model/plan.h"
#include "model/policy.h"
#include "model/verdict.h"
#include "scheduling/memory.h"

namespace berth::scheduling {

model::Plan decide(cluster::Cluster& cluster, const model::Policy& policy, model::TimePoint now);
// The same plan, faster when the memory is that of earlier decisions about this cluster.
model::Plan decide(cluster::Cluster& cluster, const model::Policy& policy, model::TimePoint now,
                   Memory& memory);

}  // namespace berth::scheduling
