// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/domain_tree.h"

#include <algorithm>

namespace berth::cluster {

std::span<const DomainId> DomainTree::at_level(int level) const {
    const auto position = static_cast<std::size_t>(level);
    if (level < 0 || position >= levels_.size()) return {};
    return levels_[position];
}

DomainId DomainTree::outwards(DomainId domain, int level) const {
    while (domain.is_valid() && (*this)[domain].level > level) domain = (*this)[domain].parent;
    if (!domain.is_valid() || (*this)[domain].level != level) return {};
    return domain;
}

bool DomainTree::is_inside(DomainId domain, DomainId outer) const {
    return outwards(domain, (*this)[outer].level) == outer;
}

std::int64_t DomainTree::slots(DomainId domain, int gpus, std::size_t view) const {
    const std::vector<std::int32_t>& by_whole = (*this)[domain].by_whole[view];
    std::int64_t total = 0;
    for (std::size_t whole = static_cast<std::size_t>(gpus); whole < by_whole.size(); ++whole) {
        total += by_whole[whole] * (static_cast<std::int64_t>(whole) / gpus);
    }
    return total;
}

DomainId DomainTree::domain_at(std::span<const std::string> names) {
    DomainId at = kWholePool;
    levels_.resize(std::max(levels_.size(), names.size()));
    for (std::size_t level = 0; level < names.size(); ++level) {
        if (names[level].empty()) continue;
        // Outer levels that are not named leave their place in the path empty.
        std::string path;
        for (std::size_t i = 0; i <= level; ++i) path += (i == 0 ? "" : "/") + names[i];
        const auto path_of = [&](DomainId domain) -> const std::string& {
            return (*this)[domain].path;
        };
        const auto insert_into = [&](std::vector<DomainId>& domains, DomainId domain) {
            domains.insert(std::ranges::lower_bound(domains, path, {}, path_of), domain);
        };
        std::vector<DomainId>& known = levels_[level];
        const auto found = std::ranges::lower_bound(known, path, {}, path_of);
        if (found != known.end() && path_of(*found) == path) {
            at = *found;
            continue;
        }
        const DomainId made{static_cast<DomainId::Rep>(domains_.size())};
        domains_.push_back({path, at, static_cast<int>(level), {}, {}, {}, {}});
        insert_into(known, made);
        insert_into(domains_[at.index()].children, made);
        at = made;
    }
    return at;
}

void DomainTree::add_node(DomainId domain, NodeId node) {
    std::vector<NodeId>& nodes = domains_[domain.index()].nodes;
    nodes.insert(std::ranges::lower_bound(nodes, node), node);
}

void DomainTree::remove_node(DomainId domain, NodeId node) {
    std::vector<NodeId>& nodes = domains_[domain.index()].nodes;
    nodes.erase(std::ranges::lower_bound(nodes, node));
}

void DomainTree::count_node(DomainId domain, std::size_t view, int whole, std::int64_t sign) {
    for (; domain != kWholePool; domain = (*this)[domain].parent) {
        std::vector<std::int32_t>& by_whole = domains_[domain.index()].by_whole[view];
        const auto position = static_cast<std::size_t>(whole);
        if (position >= by_whole.size()) by_whole.resize(position + 1);
        by_whole[position] += static_cast<std::int32_t>(sign);
    }
}

void DomainTree::count_free(DomainId domain, std::size_t view, MilliGpu amount) {
    for (; domain != kWholePool; domain = (*this)[domain].parent) {
        domains_[domain.index()].free[view] += amount;
    }
}

}  // namespace berth::cluster
