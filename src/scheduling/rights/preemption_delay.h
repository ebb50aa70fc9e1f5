// SPDX-License-Identifier: Apache-2.0
//
// May anybody be paused for this job yet? Rule R12: not before it has waited for its delay, since
// it was submitted or last asked to leave. The delay is the job's own, else that of the nearest
// project or department above it that says one. Idle GPUs it may take at any time.
#pragma once

#include <optional>

#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// From when on other jobs may be preempted for it; none = already.
std::optional<TimePoint> delayed_until(const cluster::Cluster& cluster, const cluster::Job& job,
                                       TimePoint now);
inline std::optional<TimePoint> delayed_until(const PoolView& view, const cluster::Job& job) {
    return delayed_until(view.cluster, job, view.now);
}

// Whether jobs of its job class that are younger may be past their delay although it is not: only a
// pause of its own can make it so.
bool is_delayed_alone(const PoolView& view, const cluster::Job& job);

}  // namespace berth::scheduling
