// SPDX-License-Identifier: Apache-2.0
//
// Which nodes of a pool stand together, and how much is free where? A domain is known by its path:
// rack r7 of block b1 is not rack r7 of block b2. The root is the whole pool and counts nothing
// itself (free_index.h does); a node that names no domain stands directly below it.
//
// Cost: taking a node's GPUs changes the domains it is in, one step a level. Finding room
// looks at one level's domains, never at their nodes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/quantity.h"

namespace berth::cluster {

using base::DomainId;
using base::MilliGpu;
using base::NodeId;

inline constexpr DomainId kWholePool{0};

struct Domain {
    std::string path;                // "z1/b2/r7", without the levels that nodes do not name
    DomainId parent;                 // not valid for the root
    int level = -1;                  // position among the levels
    std::vector<DomainId> children;  // by path
    std::vector<NodeId> nodes;       // that stand in it and in none below it, ascending
    std::array<MilliGpu, 2> free{};  // by View, on ready nodes
    std::array<std::vector<std::int32_t>, 2> by_whole;  // [view][k]: ready nodes with k whole GPUs
};

class DomainTree {
  public:
    DomainTree() : domains_(1) {}

    const Domain& operator[](DomainId domain) const { return domains_[domain.index()]; }
    // The domains of one level, by path.
    std::span<const DomainId> at_level(int level) const;
    // The domain of that level in which this one lies or which it is; not valid when there is none.
    DomainId outwards(DomainId domain, int level) const;
    bool is_inside(DomainId domain, DomainId outer) const;
    // Whether a node is in it; all of them may have left.
    bool has_nodes(DomainId domain) const {
        const Domain& found = domains_[domain.index()];
        const auto has = [&](DomainId child) { return has_nodes(child); };
        return !found.nodes.empty() || std::ranges::any_of(found.children, has);
    }
    // An upper bound on how many tasks of `gpus` whole GPUs each fit; not for the root.
    std::int64_t slots(DomainId domain, int gpus, std::size_t view) const;

    // Calls `visit` with every node in the domain.
    template <typename Visit>
    void visit_nodes(DomainId domain, Visit&& visit) const {
        for (const NodeId node : domains_[domain.index()].nodes) visit(node);
        for (const DomainId child : domains_[domain.index()].children) visit_nodes(child, visit);
    }

    // The innermost domain on this path, made when it is new. `names`: one a level, outermost
    // first, empty where the node names none.
    DomainId domain_at(std::span<const std::string> names);
    void add_node(DomainId domain, NodeId node);
    void remove_node(DomainId domain, NodeId node);
    // Counts a ready node, or what is free on it, in (+1) or out (-1) of its domains.
    void count_node(DomainId domain, std::size_t view, int whole, std::int64_t sign);
    void count_free(DomainId domain, std::size_t view, MilliGpu amount);

  private:
    std::vector<Domain> domains_;
    std::vector<std::vector<DomainId>> levels_;
};

}  // namespace berth::cluster
