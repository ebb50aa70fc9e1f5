// SPDX-License-Identifier: Apache-2.0
#include "scheduling/place/domains.h"

#include <algorithm>
#include <tuple>

namespace berth::scheduling {
namespace {

using cluster::DomainTree;
using cluster::kWholePool;
using Visit = std::function<bool(const Region&)>;

constexpr std::size_t index(View view) { return static_cast<std::size_t>(view); }

class Order {
  public:
    Order(const PoolView& view, const Step& step, const Region& bound_to)
        : view_(view),
          step_(step),
          bound_to_(bound_to),
          tree_(view.cluster.pool(view.pool).domains),
          shape_(view.cluster.shape(step.job.shape)),
          preferred_(preferred_level(view, step.job)),
          node_level_(static_cast<int>(view.cluster.levels().size())) {}

    void run(const Visit& visit) const {
        const int innermost = std::max(preferred_, shape_.required);
        for (int level = innermost; level >= std::max(shape_.required, 0); --level) {
            if (level == node_level_ ? visit_nodes(visit) : visit_domains(level, visit)) return;
        }
        if (shape_.required < 0) visit(bound_to_);
    }

  private:
    bool fits(const Region& region) const {
        return room_for_tasks(view_, step_, region) >= step_.tasks;
    }

    // A job that runs grows beside its tasks.
    bool is_near_running(const Region& region) const {
        const auto& placed = step_.job.placed;
        return step_.job.active == 0 || std::ranges::any_of(placed, [&](const auto& task) {
                   return cluster::is_in(view_.cluster, region, task.place.node);
               });
    }

    bool visit_domains(int level, const Visit& visit) const {
        if (bound_to_.node.is_valid() || bound_to_.is_nowhere()) return false;
        std::vector<std::pair<MilliGpu, Region>> fullest_first;
        for (const base::DomainId domain : tree_.at_level(level)) {
            const Region region{domain, {}};
            const bool is_allowed =
                shape_.required < 0 || tree_.outwards(domain, shape_.required).is_valid();
            if (!is_allowed || !tree_.is_inside(domain, bound_to_.domain) || !fits(region) ||
                !is_near_running(region))
                continue;
            fullest_first.emplace_back(tree_[domain].free[index(step_.capacity)], region);
        }
        std::ranges::stable_sort(fullest_first, {}, [](const auto& entry) { return entry.first; });
        return std::ranges::any_of(fullest_first,
                                   [&](const auto& entry) { return visit(entry.second); });
    }

    bool visit_nodes(const Visit& visit) const {
        const auto try_node = [&](NodeId node) {
            const Region region{kWholePool, node};
            const bool is_allowed =
                !cluster::region_of(view_.cluster, node, shape_.required).is_nowhere();
            return is_allowed && fits(region) && is_near_running(region) && visit(region);
        };
        if (bound_to_.node.is_valid()) return try_node(bound_to_.node);
        if (bound_to_.is_nowhere()) return false;
        if (bound_to_.is_whole_pool() && shape_.request.is_whole() && shape_.request.gpus > 0) {
            return visit_fullest_nodes(try_node);
        }
        std::vector<std::pair<MilliGpu, NodeId>> fullest_first;
        tree_.visit_nodes(bound_to_.domain, [&](NodeId node) {
            MilliGpu free{0};
            for (int gpu = 0; gpu < view_.cluster.nodes()[node.index()].gpus; ++gpu) {
                free += view_.cluster.free(step_.capacity, node, gpu);
            }
            fullest_first.emplace_back(free, node);
        });
        std::ranges::sort(fullest_first);
        return std::ranges::any_of(fullest_first,
                                   [&](const auto& entry) { return try_node(entry.second); });
    }

    // Of the whole pool: found in the index, so that the first that fits ends the search.
    template <typename TryNode>
    bool visit_fullest_nodes(TryNode&& try_node) const {
        const auto& pool = view_.cluster.pool(view_.pool);
        const std::int64_t least = std::int64_t{shape_.request.gpus} * step_.tasks;
        for (std::int64_t whole = least; whole <= pool.gpus_per_node_max; ++whole) {
            const auto& nodes = pool.free[index(step_.capacity)].nodes_with(int(whole));
            for (const NodeId node : nodes) {
                if (try_node(node)) return true;
            }
        }
        return false;
    }

    const PoolView& view_;
    const Step& step_;
    const Region& bound_to_;
    const DomainTree& tree_;
    const cluster::Shape& shape_;
    int preferred_;
    int node_level_;
};

// Where a job that requires a level must stay, if that is narrower than the region.
Region narrowed(const PoolView& view, const cluster::Job& job, const Region& region) {
    const Region bound_region = cluster::bound_region(view.cluster, job);
    return bound_region.is_whole_pool() ? region : bound_region;
}

}  // namespace

int preferred_level(const PoolView& view, const cluster::Job& job) {
    const cluster::Shape& shape = view.cluster.shape(job.shape);
    if (shape.placement == model::Placement::Any) return -1;
    if (shape.preferred >= 0) return shape.preferred;
    const bool is_better_together = shape.placement == model::Placement::Consolidate ||
                                    shape.tensor_skew_ppm > view.policy.consolidate_above_ppm;
    if (!is_better_together || job.tasks_max == 1) return -1;
    return static_cast<int>(view.cluster.levels().size());
}

std::int64_t room_for_tasks(const PoolView& view, const Step& step, const Region& region) {
    const cluster::Cluster& cluster = view.cluster;
    const model::TaskRequest& request = cluster.shape(step.job.shape).request;
    if (region.is_nowhere()) return 0;
    if (request.gpus == 0 || request.gpu_memory > model::Bytes{0}) return step.tasks;
    const std::size_t at = index(step.capacity);
    const cluster::PoolState& pool = cluster.pool(view.pool);
    if (request.is_whole()) {
        if (region.node.is_valid()) {
            const cluster::NodeState& node = cluster.nodes()[region.node.index()];
            return node.pool == view.pool ? node.free_gpus(step.capacity) / request.gpus : 0;
        }
        if (region.is_whole_pool())
            return pool.free[at].slots(request.gpus, pool.gpus_per_node_max);
        return pool.domains.slots(region.domain, request.gpus, at);
    }
    if (region.node.is_valid()) return step.tasks;
    const MilliGpu free =
        region.is_whole_pool() ? pool.free_total[at] : pool.domains[region.domain].free[at];
    return free.value / (request.share * request.gpus).value;
}

void visit_regions(const PoolView& view, const Step& step, const Region& bound_to,
                   const Visit& visit) {
    Order(view, step, narrowed(view, step.job, bound_to)).run(visit);
}

std::vector<Region> required_regions(const PoolView& view, const cluster::Job& job) {
    const int level = view.cluster.shape(job.shape).required;
    const Region bound_region = cluster::bound_region(view.cluster, job);
    if (bound_region.is_nowhere()) return {};
    if (!bound_region.is_whole_pool()) return {bound_region};
    const DomainTree& tree = view.cluster.pool(view.pool).domains;
    std::vector<Region> regions;
    if (level == static_cast<int>(view.cluster.levels().size())) {
        tree.visit_nodes(kWholePool, [&](NodeId node) { regions.push_back({kWholePool, node}); });
        std::ranges::sort(regions, {}, &Region::node);
    } else {
        for (const base::DomainId domain : tree.at_level(level)) {
            if (tree.has_nodes(domain)) regions.push_back({domain, {}});
        }
    }
    return regions;
}

std::vector<Region> parts_of(const PoolView& view, const Step& step, const Region& region) {
    const int level = preferred_level(view, step.job);
    const DomainTree& tree = view.cluster.pool(view.pool).domains;
    const bool has_parts = !region.node.is_valid() && !region.is_nowhere();
    std::vector<std::pair<std::int64_t, Region>> most_room_first;
    for (const base::DomainId part : tree.at_level(level)) {
        const bool is_part = has_parts && part != region.domain;
        if (!is_part || !tree.is_inside(part, region.domain)) continue;
        const std::int64_t slots = room_for_tasks(view, step, {part, {}});
        if (slots > 0) most_room_first.emplace_back(-slots, Region{part, {}});
    }
    std::ranges::stable_sort(most_room_first, {}, [](const auto& entry) { return entry.first; });
    std::vector<Region> parts;
    for (const auto& [slots, part] : most_room_first) parts.push_back(part);
    parts.push_back(region);
    return parts;
}

}  // namespace berth::scheduling
