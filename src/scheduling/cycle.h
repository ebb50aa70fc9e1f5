// SPDX-License-Identifier: Apache-2.0
//
// What should be done now? The whole decision, stage by stage; the only file of this folder that
// knows all the others:
//   1. holds      jobs whose promised GPUs are free start; holds that ran out are dropped
//   2. allocate   idle GPUs to the next job in order (fair_share, queue_order, job_order, place)
//   3. reclaim    owners take back what was lent (reclaim, victims)
//   4. preempt    inside a project, higher priority goes first (victims)
//   5. stale      gangs below their minimum for too long are paused whole (stale_gangs)
// Stages 3 and 4 pause nobody for a job that must wait (preemption_delay, waste_budget).
//
// Trusts: `cluster` satisfies lifecycle/invariants.h. Guarantees: it is the same after the call
// as before (all trials are undone); the same input gives the same plan; deciding again after
// the plan was carried out gives an empty plan (I5).
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
