// SPDX-License-Identifier: Apache-2.0
//
// What must be true of any state between two events? Recomputes every sum and index from the jobs
// alone and compares (I1), and checks the bounds of quotas (I3). For tests and for
// `berth scenario`; cost O(everything).
#pragma once

#include <string>
#include <vector>

#include "cluster/cluster.h"

namespace berth::lifecycle {

// One sentence for each violation; empty when all is well.
std::vector<std::string> violations(const cluster::Cluster& cluster);

// The whole indexed state as text: equal text, equal state.
std::string dump(const cluster::Cluster& cluster);

}  // namespace berth::lifecycle
