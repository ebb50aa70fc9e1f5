// SPDX-License-Identifier: Apache-2.0
//
// Why does no node of the pool take a task of this kind, whatever runs there? Nodes that would take
// it if they kept shares of their GPUs go before the rest: then the node itself says the cause.
// Then those with the GPUs it asks: a label that none of them has, or a taint that keeps it away.
//
// Trusts: the cluster allows the shape on no node of the pool. Cost: O(nodes of the cluster).
#pragma once

#include <string>

#include "model/answer/verdict.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

struct KindRefusal {
    model::Cause cause;
    std::string what = {};  // the first such node lacks for shares; the label or taint, as text
};

KindRefusal kind_refusal(const PoolView& view, ShapeId shape);

}  // namespace berth::scheduling
