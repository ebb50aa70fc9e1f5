// SPDX-License-Identifier: Apache-2.0
//
// Which nodes take no work, and which jobs are hit? Cost: O(nodes + jobs on those that are not
// ready).
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "overview/sentences.h"

namespace berth::overview {

// The first one names the nodes, or says that all are well; the second one says who is hit.
std::vector<Sentence> node_sentences(const cluster::Cluster& cluster);

}  // namespace berth::overview
