// SPDX-License-Identifier: Apache-2.0
#include "scheduling/short_resource.h"

namespace berth::scheduling {
namespace {

// Amounts above this are bytes: nobody has so many pieces of anything.
constexpr std::int64_t kBytesFrom = std::int64_t{1} << 20;

std::string asked_text(const std::string& name, std::int64_t amount) {
    if (amount < kBytesFrom) return std::to_string(amount) + " " + name;
    return base::format(base::Bytes{amount}) + " of " + name;
}

}  // namespace

std::optional<std::string> short_resource(const PoolView& view, ShapeId shape, int tasks,
                                          std::span<const NodeId> nodes, Moment moment) {
    const cluster::NodeResources& resources = view.cluster.resources();
    if (resources.asked(shape).empty()) return {};
    if (would_fit(view, shape, nodes, moment, tasks, {})) return {};
    for (const cluster::ResourceAsk& ask : resources.asked(shape)) {
        const Supposed supposed{false, false, ask.resource};
        if (!would_fit(view, shape, nodes, moment, tasks, supposed)) continue;
        if (resources.is_pods(ask.resource)) return model::kPodsResource;
        return asked_text(resources.name_asked(shape, ask), ask.amount);
    }
    return {};
}

}  // namespace berth::scheduling
