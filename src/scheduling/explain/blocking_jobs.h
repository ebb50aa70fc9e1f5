// SPDX-License-Identifier: Apache-2.0
//
// Which few jobs would have to go for this one to have room? A good guess for suggestion.h, which
// tries it out and strikes out jobs that need not end:
//   a quota or limit   those who use it: the smallest one that is enough, else the largest ones
//   jobs ahead of it   those
//   room               node by node, where the fewest jobs stand in the way
//
// Cost: O(running tasks), and a few looks at the kNodesLookedAt nodes with the most idle GPUs.
#pragma once

#include <vector>

#include "model/answer/verdict.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// Empty when no end would do, or very many jobs would have to end.
std::vector<JobId> blocking_jobs(const cluster::Cluster& cluster, const model::Policy& policy,
                                 TimePoint now, const model::Verdict& verdict);

}  // namespace berth::scheduling
