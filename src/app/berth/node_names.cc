// SPDX-License-Identifier: Apache-2.0
#include "app/berth/node_names.h"

namespace berth::app {
namespace {

std::string name_for(const cluster::Cluster& cluster, const model::Node& node) {
    std::string name = node.name;
    for (int number = 2;; ++number) {
        const auto known = cluster.find_node(name);
        if (!known.is_valid() || cluster.description(known).gpus == node.gpus) return name;
        name = node.name + "-" + std::to_string(number);
    }
}

}  // namespace

base::Result<std::unique_ptr<NamedNodes>> NamedNodes::make(
    std::unique_ptr<ports::GpuInventory> inventory, const cluster::Cluster& cluster) {
    BERTH_TRY(nodes, inventory->discover());
    auto named = std::make_unique<NamedNodes>();
    named->inventory_ = std::move(inventory);
    for (const model::Node& node : nodes) named->names_[node.name] = name_for(cluster, node);
    return named;
}

base::Result<std::vector<model::Node>> NamedNodes::discover() {
    auto nodes = inventory_->discover();
    if (!nodes) return nodes;
    for (model::Node& node : *nodes) {
        if (const auto name = names_.find(node.name); name != names_.end())
            node.name = name->second;
    }
    return nodes;
}

base::Result<std::vector<ports::GpuReading>> NamedNodes::read() {
    const std::lock_guard one_at_a_time(reading_);
    auto readings = inventory_->read();
    if (!readings) return readings;
    for (ports::GpuReading& reading : *readings) {
        if (const auto name = names_.find(reading.node); name != names_.end())
            reading.node = name->second;
    }
    return readings;
}

}  // namespace berth::app
