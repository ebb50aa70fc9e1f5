// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs does a job get for which no work has to leave: idle ones, at once, and those that work
// is leaving anyway, as a reservation?
#pragma once

#include "scheduling/order/queue_order.h"
#include "scheduling/passes/decision.h"

namespace berth::scheduling {

// Whether nothing but room keeps the job from them. The share that a gang of its project needs
// keeps no job from idle GPUs that it could as well reclaim: another job would get them and be
// paused.
bool may_have(const PoolView& view, const cluster::Job& job, const Backfill::Opening& opening);

// Gives it either, `opening` being open.
bool allocate(Decision& decision, const PoolView& view, const cluster::Job& job,
              const Backfill::Opening& opening);
// Promises it GPUs that work is leaving anyway.
bool reserve_leavings(Decision& decision, const PoolView& view, const cluster::Job& job,
                      const Backfill::Opening& opening);

// --- as far as counts say
// Whether work that leaves frees anything that is not reserved: GPUs, of a shared one perhaps
// what is no share of both compute and memory; or CPU, memory and other resources of any node, for
// companions stand in other pools too.
bool is_anything_being_left(const PoolView& view);
// Whether the first job of a job class could be placed now.
bool could_start(Decision& decision, const PoolView& view, const ClassHead& head);
// When a job that has to stop for more GPUs has run long enough to be worth it; nothing when it
// has.
std::optional<TimePoint> grows_from(const PoolView& view, const cluster::JobClassKey& job_class);

}  // namespace berth::scheduling
