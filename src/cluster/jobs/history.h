// SPDX-License-Identifier: Apache-2.0
//
// What does a decision have to know of the past, besides what its jobs remember? Kept by lifecycle/
// from the event log; trials leave it alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "cluster/jobs/past_use.h"

namespace berth::cluster {

// A gang that runs with fewer tasks than its minimum.
struct Stale {
    base::TimePoint since;
    std::optional<base::Duration> grace;  // its own; negative = for ever
};

// What pauses destroyed on one day.
struct Waste {
    std::int64_t day = 0;  // days since the epoch, UTC
    std::int64_t gpu_ms = 0;
};

struct PoolHistory {
    Waste waste;
    std::vector<PastUse> past_use;  // by project, as far as any used it; of the leaves

    PastUse& use_of(base::ProjectId project) {
        if (past_use.size() <= project.index()) past_use.resize(project.index() + 1);
        return past_use[project.index()];
    }
};

struct History {
    // Jobs that an event left below their minimum; those that got what they miss in a trial too.
    std::map<base::JobId, Stale> stale;
    std::vector<PoolHistory> pools;  // by pool
};

}  // namespace berth::cluster
