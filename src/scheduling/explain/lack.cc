// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/lack.h"

#include <algorithm>

namespace berth::scheduling {

using model::Cause;

std::optional<Lack> lack_by_others(const PoolView& view, ShapeId shape, int tasks,
                                   std::span<const NodeId> nodes, Moment moment) {
    const cluster::OthersTable& others = view.cluster.others();
    const auto fits = [&](const Supposed& supposed) {
        return would_fit(view, shape, nodes, moment, tasks, supposed);
    };
    if (others.empty() || fits({}) || !fits(kWithoutOthers)) return {};
    const auto gpus = [&](NodeId node) { return others.is_used(node) ? others.on(node).gpus : -1; };
    const NodeId node = *std::ranges::max_element(nodes, {}, gpus);
    if (!fits({.is_host_of_others_free = true})) {
        return Lack{Cause::OthersUseGpus, {}, node, base::gpus(gpus(node))};
    }
    const bool asks_more = !view.cluster.resources().asked(shape).empty();
    return Lack{Cause::OthersUseHost,
                asks_more ? "CPU, memory or another resource" : "CPU or memory", node};
}

std::optional<Lack> lack_beside(const PoolView& view, ShapeId shape, int tasks,
                                std::span<const NodeId> nodes, Moment moment) {
    Supposed supposed = moment == Moment::WhenEmpty ? kWithoutOthers : Supposed{};
    const auto fits = [&] { return would_fit(view, shape, nodes, moment, tasks, supposed); };
    if (fits()) return {};
    const cluster::NodeResources& resources = view.cluster.resources();
    for (const cluster::ResourceAsk& ask : resources.asked(shape)) {
        supposed.ignored = ask.resource;
        if (!fits()) continue;
        if (resources.is_pods(ask.resource))
            return Lack{Cause::ResourceTaken, model::kPodsResource};
        return Lack{Cause::ResourceTaken,
                    model::format_resource(resources.name_asked(shape, ask), ask.amount)};
    }
    supposed.ignored.reset();
    supposed.is_host_ignored = true;
    if (fits()) return Lack{Cause::HostTaken};
    return {};
}

}  // namespace berth::scheduling
