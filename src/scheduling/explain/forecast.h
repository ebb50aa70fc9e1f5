// SPDX-License-Identifier: Apache-2.0
//
// When will waiting jobs start? Lets time pass on a copy of the cluster: running jobs end when
// their time is over, paused ones leave, and every decision is the real one (decide.h), carried
// out, until everybody asked about has started, nothing can change any more, or a bound is reached.
// No job is submitted, canceled or fails meanwhile.
//
// Guarantees: the same input gives the same answer. Cost: at most bounds.decisions decisions for
// each of the three paces of an estimate, and of a fourth where evidence is missing.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster.h"
#include "model/answer/start_estimate.h"
#include "model/policy/policy.h"

namespace berth::scheduling {

// How fast things go.
struct Pace {
    // How long a job has still to run, counted from now when it runs, else from its next start;
    // nothing: it never ends.
    std::function<std::optional<model::Duration>(base::JobId)> work;
    int grace_halves = 0;  // of its grace: how long a job takes to save and leave
};

struct ForecastBounds {
    model::Duration horizon{INT64_C(7) * 24 * 3600 * 1000};
    int decisions = 1000;
};
// A number of decisions that takes a fraction of a second.
ForecastBounds bounds_for(const cluster::Cluster& cluster);

struct Forecast {
    std::map<base::JobId, model::TimePoint> starts;  // of jobs that held nothing
    std::vector<std::pair<model::TimePoint, base::JobId>> ends;  // in order
    model::TimePoint until;  // how far it looked
};
// `wanted`: stops when all of these have started.
Forecast forecast(cluster::Cluster cluster, const model::Policy& policy, model::TimePoint now,
                  const Pace& pace, const ForecastBounds& bounds,
                  std::span<const base::JobId> wanted);

// By job. `work` is the expectation; the band halves and doubles it, and lets a pause take no time
// or all of its grace. Jobs of which nothing is known never end; what starts only if they do has no
// times.
using Work = std::function<model::RunTime(base::JobId)>;
std::map<base::JobId, model::StartEstimate> estimate_starts(const cluster::Cluster& cluster,
                                                            const model::Policy& policy,
                                                            model::TimePoint now, const Work& work,
                                                            const ForecastBounds& bounds,
                                                            std::span<const base::JobId> wanted);

// "starts in 20m (10m to 40m), when sweep ends", "does not start within 7d". `name_of` names a job.
std::string estimate_text(const model::StartEstimate& estimate, model::TimePoint now,
                          const std::function<std::string(base::JobId)>& name_of);

}  // namespace berth::scheduling
