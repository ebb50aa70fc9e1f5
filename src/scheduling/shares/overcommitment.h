// SPDX-License-Identifier: Apache-2.0
//
// Which quotas reservation more than there is, and what are they worth? Where the quotas directly
// below a department, or below the root, sum to more than its quota, or than the pool has, and the
// policy says so, they are scaled down in proportion: whole GPUs, the odd ones to the
// higher priority, then the largest remainder, then the older project. Fixed quotas are set aside
// first, so the others share what they leave.
//
// Fair shares, the order of projects, reclaim and what is set aside for fixed quotas count by what
// is left of a quota. Limits, and the bound for work that cannot be paused, stay as written.
// Cost: O(projects).
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "model/plan.h"
#include "model/policy/policy.h"

namespace berth::scheduling {

using base::MilliGpu;
using base::PoolId;
using base::ProjectId;

struct Quotas {
    std::vector<MilliGpu> in_force;             // by project
    std::vector<model::Overcommitment> scaled;  // where that is less than written, from the top
};

// What each project's quota is worth in the pool; as written where the policy does not scale or
// nothing is promised twice. The memory of `room` is used again.
Quotas quotas_in_force(const cluster::Cluster& cluster, PoolId pool, const model::Policy& policy,
                       Quotas memory = {});

// Every place in the tree where too much is promised, whether it is scaled or not: pool by pool,
// from the top.
std::vector<model::Overcommitment> overcommitments(const cluster::Cluster& cluster);

// "the quotas in pool default sum to 8 GPUs, 6 are there": one sentence for people.
std::string overcommitment_text(const model::Overcommitment& found);

}  // namespace berth::scheduling
