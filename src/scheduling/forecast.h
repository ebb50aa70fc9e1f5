// SPDX-License-Identifier: Apache-2.0
//
// When will waiting jobs start? Lets time pass on a copy of the cluster: running jobs end when
// their time is over, paused ones leave, and every decision is the real one (decide.h), carried
// out, until everybody asked about has started, nothing can change any more, or a bound is reached.
// Nobody submits, cancels or fails meanwhile.
//
// Guarantees: the same input gives the same answer. Cost: at most bounds.decisions decisions for
// each of the three paces of an estimate.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "cluster/cluster.h"
#include "model/policy.h"
#include "model/start_estimate.h"

namespace berth::scheduling {

// How fast things go.
struct Pace {
    // How long a job has still to run, counted from now when it runs, else from its next start.
    std::function<model::Duration(base::JobId)> work;
    model::Duration pause{0};  // how long a job takes to save and leave
};

struct ForecastBounds {
    model::Duration horizon{INT64_C(7) * 24 * 3600 * 1000};
    int decisions = 1000;
};
// So many decisions that answering stays a matter of a fraction of a second.
ForecastBounds bounds_for(const cluster::Cluster& cluster);

struct Forecast {
    std::map<base::JobId, model::TimePoint> starts;  // of jobs that held nothing
    model::TimePoint until;  // how far it looked
};
// `wanted`: stops when all of these have started.
Forecast forecast(cluster::Cluster cluster, const model::Policy& policy, model::TimePoint now,
                  const Pace& pace, const ForecastBounds& bounds,
                  std::span<const base::JobId> wanted);

// By job. `work` is the expectation; the band halves and doubles it, and lets a pause take no time
// or all of its grace.
std::map<base::JobId, model::StartEstimate> estimate_starts(
    const cluster::Cluster& cluster, const model::Policy& policy, model::TimePoint now,
    const std::function<model::Duration(base::JobId)>& work, const ForecastBounds& bounds,
    std::span<const base::JobId> wanted);

// "starts in 20m (10m to 40m)", "does not start within 7d".
std::string estimate_text(const model::StartEstimate& estimate, model::TimePoint now);

}  // namespace berth::scheduling
