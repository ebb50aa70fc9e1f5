// SPDX-License-Identifier: Apache-2.0
//
// Rule R1 once more, written from its text alone: what is each project entitled to? Slow, without
// an index, and sharing no code with scheduling/, so that the two can be held against each other.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/cluster.h"
#include "model/policy/policy.h"

namespace berth::proof {

// Milli-GPUs by project, the root first.
struct RuleShares {
    std::vector<std::int64_t> fair;
    std::vector<std::int64_t> allocatable;  // min(limit, max(quota, fair))
    std::vector<std::int64_t> quota;        // what is left of it where too much is promised
};

// What one GPU of the node counts as where GPU models are exchanged, in thousandths.
std::int64_t exchange_weight(const cluster::Cluster& cluster, base::NodeId node);

RuleShares rule_shares(const cluster::Cluster& cluster, base::PoolId pool,
                       const model::Policy& policy, model::TimePoint now);

}  // namespace berth::proof
