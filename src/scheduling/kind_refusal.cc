// SPDX-License-Identifier: Apache-2.0
#include "scheduling/kind_refusal.h"

namespace berth::scheduling {

KindRefusal kind_refusal(const PoolView& view, ShapeId id) {
    const cluster::Shape& shape = view.cluster.shape(id);
    bool is_any_large_enough = false;
    for (std::size_t i = 0; i < view.cluster.nodes().size(); ++i) {
        const NodeId at{static_cast<NodeId::Rep>(i)};
        if (!view.has_for_good(at)) continue;
        const model::Node node = view.cluster.description(at);
        if (!node.shares_lack.empty() && shape.shares() && cluster::is_of_kind(shape, node))
            return {model::Reason::NeverFits, "shares", node.shares_lack};
        is_any_large_enough |=
            node.gpus >= shape.request.gpus && model::share_of(shape.request, node).has_value();
    }
    const bool asks_for_kind = !shape.gpu_model.empty() || !shape.labels.empty();
    if (asks_for_kind && is_any_large_enough) return {model::Reason::ModelMismatch, "node kind"};
    return {model::Reason::NeverFits, "node size"};
}

}  // namespace berth::scheduling
