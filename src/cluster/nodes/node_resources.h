// SPDX-License-Identifier: Apache-2.0
//
// How much of its other resources (model/node/resources.h) does each node have, what of it is
// taken, and how much does a task of each shape ask? What a task takes follows from its shape
// alone, so no record of a task says it.
//
// A node that does not say how much it has of a resource has none, and takes any number of pods.
// Guarantees: nothing is counted before a node says a resource, or a shape asks for one.
// Cost: of a question or a change O(resources that the shape asks for); a resource that is new to
// the cluster has all tasks counted again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/nodes/node_state.h"
#include "model/node/resources.h"

namespace berth::cluster {

using base::ShapeId;

// At most `slots` tasks that take `each` of what is free. On a node with more bound than it has
// there is none for a task that asks for nothing either.
int slots_within(int slots, std::int64_t free, std::int64_t each);

// Of one task. A resource is its position among the names.
struct ResourceAsk {
    std::uint32_t resource = 0;
    std::int64_t amount = 0;

    bool operator==(const ResourceAsk&) const = default;
};

class NodeResources {
  public:
    // Whether anything is counted at all.
    bool is_used() const { return is_used_; }
    // Whether some of any is being left and not reserved.
    bool are_being_left() const { return being_left_ > 0; }
    std::span<const std::string> names() const { return names_; }
    bool has_room_for(const model::Resources& resources) const;  // for their names

    std::span<const ResourceAsk> asked(ShapeId shape) const { return asked_[shape.index()]; }
    // Not accounted where the node does not say it, or no node does.
    const HostUse& on(NodeId node, std::uint32_t resource) const;
    std::int64_t used_by_others(NodeId node, std::uint32_t resource) const;
    bool is_pods(std::uint32_t resource) const { return resource == pods_ && resource != kUnknown; }

    const std::string& name_asked(ShapeId shape, const ResourceAsk& ask) const;  // one of them
    // Of one resource, for a task of the shape.
    std::int64_t asked(ShapeId shape, std::uint32_t resource) const;

    // Whether one more task of the shape has what it asks there.
    bool fits(ShapeId shape, NodeId node, View view) const {
        return !is_used_ || fits_counted(shape, node, view);
    }
    // How many of `tasks` have it.
    int fitting(ShapeId shape, NodeId node, View view, int tasks) const;

    void add(const model::Resources& asked_by_shape);  // of the next shape
    // True: there is a name that is new; then what tasks take has to be counted again, from
    // nothing.
    bool set_node(NodeId node, const model::Resources& resources);
    void set_others(NodeId node, const model::Resources& resources);  // that the node says
    void forget_tasks();
    void change(ShapeId shape, NodeId node, Use use, std::int64_t tasks) {
        if (is_used_) change_counted(shape, node, use, tasks);
    }
    model::Resources resources_of(NodeId node) const;
    model::Resources of_others(NodeId node) const;

  private:
    static constexpr std::uint32_t kUnknown = static_cast<std::uint32_t>(-1);
    struct OnNode {
        HostUse use;
        std::int64_t others = 0;  // part of what is used
    };

    std::uint32_t position_of(const std::string& name) const;
    OnNode& at(NodeId node, std::uint32_t resource);
    std::vector<ResourceAsk> resolved(const model::Resources& asked) const;
    bool fits_counted(ShapeId shape, NodeId node, View view) const;
    void change_counted(ShapeId shape, NodeId node, Use use, std::int64_t tasks);

    std::vector<std::string> names_;
    std::vector<std::vector<OnNode>> nodes_;  // [resource][node], up to the last that said it
    std::vector<model::Resources> wanted_;  // by shape, as it was asked
    std::vector<std::vector<ResourceAsk>> asked_;  // by shape
    std::uint32_t pods_ = kUnknown;
    bool is_used_ = false;
    int being_left_ = 0;  // resources of nodes of which some is
};

}  // namespace berth::cluster
