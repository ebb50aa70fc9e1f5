// SPDX-License-Identifier: Apache-2.0
//
// What do others use of a node, and on which of its GPUs? They come when they come: some may be on
// GPUs that our tasks are on too, where two schedulers raced. Then what is missing becomes theirs
// as soon as tasks of ours have left:
//   taken    free GPUs, which count as used
//   awaited  GPUs that only tasks of ours are leaving, which count as promised
//   missing  the rest; while there are such, no task with a GPU comes to the node, not even to a
//            part of one that is shared
// Which GPUs of a node others have is not known, so those of the highest index are chosen, and
// kept.
//
// Guarantees: no GPU is awaited, or missing, while another one of the node is free. Cost: a node of
// which others use nothing costs nothing, nor does a node without others.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/ids.h"
#include "model/node/node.h"

namespace berth::cluster {

struct Others {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::uint64_t taken = 0;
    std::uint64_t awaited = 0;
    int gpus = 0;  // that they use
    bool has_resources = false;  // of others (node_resources.h)

    bool operator==(const Others&) const = default;
    bool is_settled() const;  // all of them are taken, none is awaited
    int missing() const;  // GPUs that they use beside ours, neither taken nor awaited
};

// The GPUs that the description names.
std::uint64_t named_gpus(const model::OthersUse& use);
// As people and files say it.
model::OthersUse description_of(const Others& others);

// What they take and await when these GPUs beside those taken are free, and these are being left.
Others settled(Others others, std::uint64_t free, std::uint64_t being_left);

class OthersTable {
  public:
    bool empty() const { return by_node_.empty(); }
    const Others& on(base::NodeId node) const {
        static constexpr Others kNone;
        return node.index() < by_node_.size() ? by_node_[node.index()] : kNone;
    }
    void set(base::NodeId node, const Others& others);
    bool is_used(base::NodeId node) const { return on(node) != Others{}; }
    bool is_overfull(base::NodeId node) const {
        return !unsettled_.empty() && on(node).missing() > 0;
    }
    // Nodes on which some of their GPUs are not taken.
    const std::set<base::NodeId>& unsettled() const { return unsettled_; }

  private:
    std::vector<Others> by_node_;  // up to the last of which they used something
    std::set<base::NodeId> unsettled_;
};

}  // namespace berth::cluster
