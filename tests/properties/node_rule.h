// SPDX-License-Identifier: Apache-2.0
//
// May a task of this shape stand on a node that says this of itself, by labels, name and taints?
// Decided from the description alone, term by term: it knows no kinds of node.
#pragma once

#include "cluster/cluster.h"

namespace berth::proof {

bool rule_admits(const cluster::Shape& shape, const model::Node& node);

}  // namespace berth::proof
