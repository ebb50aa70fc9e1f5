// SPDX-License-Identifier: Apache-2.0
//
// What part of a pool has each project had lately? The usage u of rule R1, in parts per million:
// what its rights say, or, where the policy measures it, the GPU time that its projects really had
// against what the pool could have given since anybody used it, both decayed alike.
// Cost: where it is measured, projects x 120 periods.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "model/policy/policy.h"

namespace berth::scheduling {

// By project; of a department, the sum of what is below it. The memory of `room` is used again.
std::vector<std::int64_t> past_shares(const cluster::Cluster& cluster, base::PoolId pool,
                                      const model::Policy& policy, model::TimePoint now,
                                      std::vector<std::int64_t> memory = {});

}  // namespace berth::scheduling
