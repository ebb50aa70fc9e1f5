// SPDX-License-Identifier: Apache-2.0
//
// Which waiting jobs wait for the same reason? Those of one class: at one moment, one verdict holds
// for all of them, but for its job and position.
//
// Guarantees: a new field of a job does not compile before it is said here whether it matters.
#pragma once

#include <tuple>

#include "cluster/cluster.h"
#include "scheduling/rights/preemption_delay.h"

namespace berth::scheduling {

// Of a job that holds nothing and is promised nothing.
inline auto verdict_class_of(const cluster::Cluster& cluster, const cluster::Job& job,
                             TimePoint now) {
    const auto& [id, created, project, shape, priority, rank, tasks_min, tasks_max, grows_by,
                 active, lacking, companions, lacking_companions, preemptible, may_run, is_parked,
                 elastic, fresh_tasks, kind, saves_when_asked, pool, pinned, placed, reservation,
                 waiting_since, last_start, last_saved, restart_cost, expected_runtime, min_run,
                 attained, last_pause, preemption_delay, pause_grace] = job;
    const std::optional<TimePoint> delayed = delayed_until(cluster, job, now);
    const bool has_run = last_start != TimePoint{};
    return std::tuple(project, shape, kind, priority, rank, tasks_min, tasks_max, lacking,
                      lacking_companions, preemptible, may_run, is_parked, elastic, pinned.node,
                      job.declared_minutes(), delayed, has_run);
}
using VerdictClass = decltype(verdict_class_of(std::declval<cluster::Cluster>(), {}, {}));

}  // namespace berth::scheduling
