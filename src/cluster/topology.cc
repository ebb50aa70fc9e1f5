// SPDX-License-Identifier: Apache-2.0
//
// Where nodes stand together: levels, the domains of every pool, and what binds a job to one.
#include <algorithm>

#include "base/check.h"
#include "cluster/cluster.h"
#include "cluster/gang.h"
#include "cluster/regions.h"

namespace berth::cluster {

std::optional<int> Cluster::level_named(std::string_view name) const {
    if (name == model::kNodeLevel) return static_cast<int>(levels_.size());
    const auto found = std::ranges::find(levels_, name);
    if (found == levels_.end()) return {};
    return static_cast<int>(found - levels_.begin());
}

std::vector<std::string> names_at_levels(const Cluster& cluster, const NodeWords& node) {
    std::vector<std::string> names;
    for (const std::string& level : cluster.levels()) {
        const auto stated = node.topology.find(level);
        const auto label = node.labels.find(level);
        names.push_back(stated != node.topology.end() ? stated->second
                        : label != node.labels.end()  ? label->second
                                                      : "");
    }
    return names;
}

void Cluster::put_into_domains(NodeId id) {
    NodeState& state = nodes_[id.index()];
    DomainTree& domains = pools_[state.pool.index()].domains;
    state.domain = domains.domain_at(names_at_levels(*this, kinds_.words(state)));
    domains.add_node(state.domain, id);
}

void resolve_levels(const Cluster& cluster, Shape& shape) {
    const auto position = [&](const std::string& level) {
        return level.empty() ? -1 : cluster.level_named(level).value_or(-1);
    };
    shape.required = position(shape.topology.required);
    shape.preferred = position(shape.topology.preferred);
    shape.groups.clear();
    int first = 0;
    for (const model::TaskGroup& group : shape.topology.groups) {
        shape.groups.push_back({first, group.tasks_min, group.tasks_max, position(group.level)});
        first += group.tasks_max;
    }
}

void Cluster::set_levels(const model::Levels& levels) {
    BERTH_CHECK(open_trials_ == 0, "levels do not change inside a trial");
    change_domains([&] {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            index_node({static_cast<NodeId::Rep>(i)}, -1);
        }
        levels_ = levels;
        for (PoolState& pool : pools_) pool.domains = {};
        for (Shape& shape : shapes_) resolve_levels(*this, shape);
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const NodeId id{static_cast<NodeId::Rep>(i)};
            put_into_domains(id);
            index_node(id, +1);
        }
    });
}

void Cluster::change_domains(const std::function<void()>& change) {
    for (const auto& [id, job] : jobs_) dequeue(job);
    change();
    for (const auto& [id, job] : jobs_) enqueue(job);
    recount();  // the change may have done so while they were out of line
}

Region region_of(const Cluster& cluster, NodeId node, int level) {
    if (level < 0) return {};
    if (level == static_cast<int>(cluster.levels().size())) return {kWholePool, node};
    const NodeState& state = cluster.nodes()[node.index()];
    return {cluster.pool(state.pool).domains.outwards(state.domain, level), {}};
}

bool is_in(const Cluster& cluster, const Region& region, NodeId node) {
    if (region.node.is_valid()) return region.node == node;
    if (region.domain == kWholePool) return true;
    if (region.is_nowhere()) return false;
    const NodeState& state = cluster.nodes()[node.index()];
    return cluster.pool(state.pool).domains.is_inside(state.domain, region.domain);
}

Region bound_region(const Cluster& cluster, const Job& job) {
    const int level = cluster.shape(job.shape).required;
    return bound_region(cluster, job, {0, job.tasks_min, job.tasks_max, level});
}

std::string name_of(const Cluster& cluster, const Region& region, PoolId pool) {
    if (region.node.is_valid()) return "node " + cluster.node_name(region.node);
    if (region.is_nowhere() || region.is_whole_pool()) return "the pool";
    const Domain& domain = cluster.pool(pool).domains[region.domain];
    std::string name = cluster.levels()[static_cast<std::size_t>(domain.level)] + " ";
    for (const char letter : domain.path) {
        // Outer levels that are not named are left out.
        if (letter != '/' || (name.back() != '/' && name.back() != ' ')) name += letter;
    }
    return name;
}

}  // namespace berth::cluster
