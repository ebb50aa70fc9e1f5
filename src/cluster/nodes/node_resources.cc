// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/node_resources.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::cluster {

int slots_within(int slots, std::int64_t free, std::int64_t each) {
    if (each == 0) return free < 0 ? 0 : slots;
    return static_cast<int>(std::clamp<std::int64_t>(free / each, 0, slots));
}

std::uint32_t NodeResources::position_of(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) return kUnknown;
    return static_cast<std::uint32_t>(found - names_.begin());
}

bool NodeResources::has_room_for(const model::Resources& resources) const {
    const auto new_names = std::ranges::count_if(
        resources, [&](const auto& entry) { return position_of(entry.first) == kUnknown; });
    return names_.size() + static_cast<std::size_t>(new_names) <= model::kResourcesMax;
}

const HostUse& NodeResources::on(NodeId node, std::uint32_t resource) const {
    static constexpr HostUse kNone;
    if (resource >= nodes_.size() || node.index() >= nodes_[resource].size()) return kNone;
    return nodes_[resource][node.index()].use;
}

std::int64_t NodeResources::used_by_others(NodeId node, std::uint32_t resource) const {
    if (resource >= nodes_.size() || node.index() >= nodes_[resource].size()) return 0;
    return nodes_[resource][node.index()].others;
}

NodeResources::OnNode& NodeResources::at(NodeId node, std::uint32_t resource) {
    std::vector<OnNode>& nodes = nodes_[resource];
    if (node.index() >= nodes.size()) nodes.resize(node.index() + 1);
    return nodes[node.index()];
}

const std::string& NodeResources::name_asked(ShapeId shape, const ResourceAsk& ask) const {
    if (ask.resource != kUnknown) return names_[ask.resource];
    const auto found = std::ranges::find_if(wanted_[shape.index()], [&](const auto& wanted) {
        return position_of(wanted.first) == kUnknown && wanted.second == ask.amount;
    });
    return found->first;
}

std::int64_t NodeResources::asked(ShapeId shape, std::uint32_t resource) const {
    const auto asks = asked(shape);
    const auto found = std::ranges::find(asks, resource, &ResourceAsk::resource);
    return found == asks.end() ? 0 : found->amount;
}

bool NodeResources::fits_counted(ShapeId shape, NodeId node, View view) const {
    return fitting(shape, node, view, 1) == 1;
}

int NodeResources::fitting(ShapeId shape, NodeId node, View view, int tasks) const {
    for (const ResourceAsk& ask : asked(shape)) {
        const HostUse& use = on(node, ask.resource);
        if (use.capacity != kUnaccounted) {
            tasks = slots_within(tasks, use.free(view), ask.amount);
        } else if (!is_pods(ask.resource)) {
            return 0;
        }
    }
    return tasks;
}

std::vector<ResourceAsk> NodeResources::resolved(const model::Resources& asked) const {
    std::vector<ResourceAsk> asks;
    for (const auto& [name, amount] : asked) {
        if (amount > 0) asks.push_back({position_of(name), amount});
    }
    if (pods_ != kUnknown) asks.push_back({pods_, 1});
    return asks;
}

void NodeResources::add(const model::Resources& asked_by_shape) {
    is_used_ |= !asked_by_shape.empty();
    wanted_.push_back(asked_by_shape);
    asked_.push_back(resolved(asked_by_shape));
}

bool NodeResources::set_node(NodeId node, const model::Resources& resources) {
    bool has_new_name = false;
    for (const auto& [name, amount] : resources) {
        if (position_of(name) != kUnknown) continue;
        BERTH_CHECK(names_.size() < model::kResourcesMax,
                    "has_room_for() comes before a node is added");
        if (name == model::kPodsResource) pods_ = static_cast<std::uint32_t>(names_.size());
        names_.push_back(name);
        nodes_.emplace_back();
        has_new_name = is_used_ = true;
    }
    for (std::uint32_t resource = 0; resource < names_.size(); ++resource) {
        const auto listed = resources.find(names_[resource]);
        const bool is_said = listed != resources.end();
        if (!is_said && on(node, resource).capacity == kUnaccounted) continue;
        at(node, resource).use.capacity = is_said ? listed->second : kUnaccounted;
    }
    for (std::size_t shape = 0; has_new_name && shape < wanted_.size(); ++shape) {
        asked_[shape] = resolved(wanted_[shape]);
    }
    return has_new_name;
}

void NodeResources::set_others(NodeId node, const model::Resources& resources) {
    for (std::uint32_t resource = 0; resource < names_.size(); ++resource) {
        const auto listed = resources.find(names_[resource]);
        const std::int64_t amount = listed == resources.end() ? 0 : listed->second;
        if (amount == used_by_others(node, resource)) continue;
        OnNode& on_node = at(node, resource);
        on_node.use.used += amount - std::exchange(on_node.others, amount);
    }
}

void NodeResources::forget_tasks() {
    for (std::vector<OnNode>& nodes : nodes_) {
        for (OnNode& node : nodes) node.use = {node.use.capacity, node.others, 0, 0};
    }
    being_left_ = 0;
}

void NodeResources::change_counted(ShapeId shape, NodeId node, Use use, std::int64_t tasks) {
    for (const ResourceAsk& ask : asked(shape)) {
        if (ask.resource == kUnknown) continue;
        HostUse& on_node = at(node, ask.resource).use;
        std::int64_t& field = use == Use::Used        ? on_node.used
                              : use == Use::Releasing ? on_node.releasing
                                                      : on_node.reserved;
        being_left_ -= on_node.is_being_left() ? 1 : 0;
        field += ask.amount * tasks;
        being_left_ += on_node.is_being_left() ? 1 : 0;
    }
}

model::Resources NodeResources::resources_of(NodeId node) const {
    model::Resources resources;
    for (std::uint32_t resource = 0; resource < names_.size(); ++resource) {
        const std::int64_t capacity = on(node, resource).capacity;
        if (capacity != kUnaccounted) resources[names_[resource]] = capacity;
    }
    return resources;
}

model::Resources NodeResources::of_others(NodeId node) const {
    model::Resources resources;
    for (std::uint32_t resource = 0; resource < names_.size(); ++resource) {
        const std::int64_t amount = used_by_others(node, resource);
        if (amount != 0) resources[names_[resource]] = amount;
    }
    return resources;
}

}  // namespace berth::cluster
