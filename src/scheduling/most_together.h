// SPDX-License-Identifier: Apache-2.0
//
// In which domain of the level a job requires would most of its tasks fit? For verdicts: the
// domain to name, and the number that is short. Ties go to the first path.
// Cost: one look at each node.
#pragma once

#include <functional>

#include "scheduling/domains.h"

namespace berth::scheduling {

struct Together {
    Region region;
    int tasks = 0;  // at most the job's minimum
};

// `tasks_on` says how many tasks one node would take.
Together most_together(const PoolView& view, const cluster::Job& job,
                       const std::function<int(NodeId)>& tasks_on);

// As things stand.
Together most_together_now(const PoolView& view, const cluster::Job& job);

}  // namespace berth::scheduling
