// SPDX-License-Identifier: Apache-2.0
#include "scheduling/place/companions.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "cluster/gang.h"
#include "scheduling/place/free_capacity.h"

namespace berth::scheduling {
namespace {

using cluster::Companions;
using cluster::Job;

// Whether companions of the job may stand there, as far as pools say.
bool may_stand_on(const PoolView& view, const Job& job, NodeId node) {
    const cluster::NodeState& state = view.cluster.nodes()[node.index()];
    if (state.pool == view.pool) return true;
    const auto pools = view.cluster.pools_of(job);
    return state.gpus == 0 && std::ranges::find(pools, state.pool) != pools.end();
}

// All nodes where companions of the job may stand, in the order in which they are filled. Those of
// a frozen job go on where they are.
std::vector<NodeId> nodes_for(const PoolView& view, const Job& job, const Places& placed) {
    if (job.pinned.node.is_valid()) return {job.pinned.node};
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < view.cluster.nodes().size(); ++i) {
        const NodeId node{static_cast<NodeId::Rep>(i)};
        if (may_stand_on(view, job, node)) nodes.push_back(node);
    }
    std::vector<NodeId> nodes_of_job;
    for (const model::TaskPlacement& task : placed) nodes_of_job.push_back(task.node);
    for (const cluster::PlacedTask& task : job.placed) nodes_of_job.push_back(task.place.node);
    std::ranges::sort(nodes_of_job);
    const auto with_gpus = std::ranges::stable_partition(
        nodes, [&](NodeId node) { return view.cluster.nodes()[node.index()].gpus == 0; });
    std::ranges::stable_partition(
        with_gpus, [&](NodeId node) { return std::ranges::binary_search(nodes_of_job, node); });
    return nodes;
}

// Those with GPUs go first; of these and of the others the kinds that may stand on fewest of the
// nodes, lest others take their room, then the larger ones.
std::vector<std::size_t> choosiest_first(const cluster::Cluster& cluster,
                                         std::span<const Companions> kinds,
                                         std::span<const NodeId> nodes) {
    std::vector<std::size_t> order(kinds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (kinds.size() == 1) return order;
    const auto choices = [&](std::size_t kind) {
        return std::ranges::count_if(nodes, [&](NodeId node) {
            return cluster.allows(kinds[kind].shape, cluster.nodes()[node.index()].kind);
        });
    };
    std::vector<std::tuple<bool, std::ptrdiff_t, MilliGpu>> by_kind;
    for (const std::size_t kind : order) {
        const model::TaskRequest& request = cluster.shape(kinds[kind].shape).request;
        by_kind.emplace_back(request.gpus == 0, choices(kind), -(request.share * request.gpus));
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t kind) { return by_kind[kind]; });
    return order;
}

// Places for one kind, one after the other: where one has no place, the next has none either.
class CompanionPlaces {
  public:
    CompanionPlaces(const PoolView& view, const Job& job, ShapeId shape,
                    std::span<const NodeId> nodes)
        : view_(view), job_(job), shape_(shape), nodes_(nodes) {}

    std::optional<model::TaskPlacement> next(View capacity) {
        if (view_.cluster.shape(shape_).request.gpus > 0)
            return place_beside(view_, job_, shape_, capacity);
        const std::size_t views = capacity == View::Idle ? 1 : 2;
        for (; at_ < views * nodes_.size(); ++at_) {
            const View view = at_ < nodes_.size() ? View::Idle : View::Coming;
            const NodeId node = nodes_[at_ % nodes_.size()];
            if (auto place = place_on(view_, shape_, node, view, job_.pinned_apart())) return place;
        }
        return {};
    }

  private:
    const PoolView& view_;
    const Job& job_;
    ShapeId shape_;
    std::span<const NodeId> nodes_;
    std::size_t at_ = 0;  // in each view in turn
};

// The first kind with GPUs, when its tasks and companions ask together for more of them than the
// nodes have that any may use.
std::optional<std::size_t> beyond_all_gpus(const PoolView& view, const Job& job) {
    const cluster::Cluster& cluster = view.cluster;
    const cluster::Shape& shape = cluster.shape(job.shape);
    const auto with_gpus = std::ranges::find_if(shape.companions, [&](const Companions& kind) {
        return cluster.shape(kind.shape).request.gpus > 0;
    });
    if (with_gpus == shape.companions.end()) return {};
    const MilliGpu asks =
        cluster.footprint(job.shape, view.pool) * job.tasks_min +
        cluster::gpus_of_companions(cluster, shape, view.pool, &cluster::Cluster::footprint);
    MilliGpu gpus{0};
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const cluster::NodeState& node = cluster.nodes()[i];
        const auto may = [&](ShapeId part) { return cluster.allows(part, node.kind); };
        const bool any_may =
            may(job.shape) || std::ranges::any_of(shape.companions, may, &Companions::shape);
        if (any_may && view.has_for_good(NodeId{static_cast<NodeId::Rep>(i)}))
            gpus += base::kWholeGpu * node.gpus;
    }
    if (asks <= gpus) return {};
    return static_cast<std::size_t>(with_gpus - shape.companions.begin());
}

}  // namespace

std::optional<std::size_t> add_companions(const PoolView& view, const Job& job, View capacity,
                                          Places& placed) {
    if (!lacks_companions(job)) return {};
    cluster::Cluster& cluster = view.cluster;
    const cluster::Trial trial(cluster);
    for (const model::TaskPlacement& task : placed) cluster.take(capacity, job.shape, task);
    const std::vector<NodeId> nodes = nodes_for(view, job, placed);
    const std::vector<Companions>& kinds = cluster.shape(job.shape).companions;
    for (const std::size_t kind : choosiest_first(cluster, kinds, nodes)) {
        CompanionPlaces places(view, job, kinds[kind].shape, nodes);
        for (const int rank : cluster::free_ranks(kinds[kind], job)) {
            auto place = places.next(capacity);
            if (!place) return kind;
            place->task = rank;
            cluster.take(capacity, job.shape, *place);
            placed.push_back(*place);
        }
    }
    std::ranges::sort(placed, {}, &model::TaskPlacement::task);
    return {};
}

std::optional<TooLarge> companions_too_large(const PoolView& view, const Job& job) {
    const cluster::Cluster& cluster = view.cluster;
    const std::vector<Companions>& kinds = cluster.shape(job.shape).companions;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        int missing = kinds[kind].count;
        for (std::size_t i = 0; i < cluster.nodes().size() && missing > 0; ++i) {
            const NodeId node{static_cast<NodeId::Rep>(i)};
            const ShapeId shape = kinds[kind].shape;
            const bool may = (view.has_for_good(node) || may_stand_on(view, job, node)) &&
                             cluster.allows(shape, cluster.nodes()[i].kind);
            if (may) missing -= slots_when_empty(view, shape, node, missing);
        }
        if (missing > 0) return TooLarge{kind};
    }
    if (const auto kind = beyond_all_gpus(view, job)) return TooLarge{*kind, true};
    return {};
}

}  // namespace berth::scheduling
