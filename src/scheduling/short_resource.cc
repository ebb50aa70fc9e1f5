// SPDX-License-Identifier: Apache-2.0
#include "scheduling/short_resource.h"

namespace berth::scheduling {
std::optional<std::string> short_resource(const PoolView& view, ShapeId shape, int tasks,
                                          std::span<const NodeId> nodes, Moment moment) {
    const cluster::NodeResources& resources = view.cluster.resources();
    if (resources.asked(shape).empty()) return {};
    if (would_fit(view, shape, nodes, moment, tasks, {})) return {};
    for (const cluster::ResourceAsk& ask : resources.asked(shape)) {
        const Supposed supposed{false, false, ask.resource};
        if (!would_fit(view, shape, nodes, moment, tasks, supposed)) continue;
        if (resources.is_pods(ask.resource)) return model::kPodsResource;
        return model::format_resource(resources.name_asked(shape, ask), ask.amount);
    }
    return {};
}

}  // namespace berth::scheduling
