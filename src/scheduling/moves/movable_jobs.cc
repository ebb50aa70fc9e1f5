// SPDX-License-Identifier: Apache-2.0
#include "scheduling/moves/movable_jobs.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "scheduling/place/place.h"

namespace berth::scheduling {

using cluster::Job;

namespace {

using Nodes = base::SmallVector<NodeId, kMoveNodesTried>;

// Nodes where room could be made, those with the most idle GPUs first.
Nodes nodes_to_try(const PoolView& view, const Job& job) {
    const auto& pool = view.cluster.pool(view.pool);
    const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
    const model::TaskRequest& request = view.cluster.shape(job.shape).request;
    Nodes nodes;
    const auto add = [&](NodeId node) {
        const auto& state = view.cluster.nodes()[node.index()];
        const bool is_new =
            nodes.size() < kMoveNodesTried && std::ranges::find(nodes, node) == nodes.end();
        if (is_new && view.cluster.allows(job.shape, state.kind)) nodes.push_back(node);
    };
    for (int count = pool.gpus_per_node_max; count >= 0; --count) {
        if (count == 0 && !request.is_whole()) {
            auto gpu = free.partial().end();
            while (gpu != free.partial().begin() && nodes.size() < kMoveNodesTried) {
                add((--gpu)->node);
            }
        }
        const cluster::NodeSet& with = free.nodes_with(count);
        for (NodeId node = with.next({0}); node.is_valid() && nodes.size() < kMoveNodesTried;
             node = with.next({node.value + 1})) {
            add(node);
        }
    }
    return nodes;
}

}  // namespace

MovableJobs::MovableJobs(const PoolView& view, const Job& job, Migrations& known,
                         std::pmr::memory_resource* memory)
    : view_(view), job_(job), on_nodes_(memory), jobs_(memory) {
    nodes_ = nodes_to_try(view, job);
    for (const NodeId node : nodes_) {
        first_on_node_.push_back(on_nodes_.size());
        for (const Migration& migration : known.on(node)) look_at(migration);
    }
    first_on_node_.push_back(on_nodes_.size());
    sort();
}

// A set costs what each job in it does at least: those that are too dear alone are left out.
void MovableJobs::look_at(const Migration& migration) {
    if (!can_go(*migration.job)) return;
    if (migration.protected_until) {
        refusal_.add(*migration.protected_until);
    } else if (is_too_dear(view_, job_, migration.expected.price)) {
        refusal_.add(migration.expected);
    } else {
        on_nodes_.push_back(position_of(migration));
    }
}

void MovableJobs::sort() {
    std::pmr::vector<std::size_t> order(jobs_.size(), jobs_.get_allocator());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, std::less{}, [&](std::size_t movable) {
        return cluster::victim_key(*jobs_[movable].job);
    });
    std::pmr::vector<Migration> sorted(jobs_.get_allocator());
    std::pmr::vector<std::size_t> position(jobs_.size(), jobs_.get_allocator());
    for (const std::size_t movable : order) {
        position[movable] = sorted.size();
        sorted.push_back(jobs_[movable]);
    }
    jobs_ = std::move(sorted);
    for (std::size_t& movable : on_nodes_) movable = position[movable];
}

// Whether it could move at all. Only jobs that block the placement move, so what a single task
// of the job leaves over of a node is too little for any of those who left it: a migration of
// one task needs room that is there already.
bool MovableJobs::can_go(const Job& movable) {
    auto known = std::ranges::find(shapes_, movable.shape, &KnownShape::shape);
    if (known == shapes_.end()) {
        shapes_.push_back({movable.shape, is_stand_in_for(movable.shape),
                           has_room_for_one(view_, movable.shape)});
        known = shapes_.end() - 1;
    }
    if (known->is_replaced) return false;
    return job_.ask() > 1 || movable.placed.size() > 1 || known->has_room;
}

// Whether tasks of the job fill the place of one of the shape's, wherever that may be: they
// could go where it would have to go, as many as would stand where it is.
bool MovableJobs::is_stand_in_for(ShapeId shape) const {
    const cluster::Cluster& cluster = view_.cluster;
    const cluster::Shape& asked = cluster.shape(job_.shape);
    const model::TaskRequest& mine = asked.request;
    const model::TaskRequest& theirs = cluster.shape(shape).request;
    const bool is_free = asked.required < 0 && asked.groups.empty();
    if (!is_free || !mine.is_whole() || !theirs.is_whole() || mine.gpus == 0) return false;
    const int count = theirs.gpus / mine.gpus;
    const auto is_as_much = [&](const auto& left, const auto& other) {
        return left.has_value() == other.has_value() &&
               (!left || left->value * count == other->value);
    };
    return theirs.gpus > 0 && theirs.gpus % mine.gpus == 0 && is_as_much(mine.cpu, theirs.cpu) &&
           is_as_much(mine.memory, theirs.memory) && asks_as_much(shape, count) &&
           may_stand_wherever(shape);
}

// Whether this many tasks of the job ask for as much of every resource as one of the shape's.
bool MovableJobs::asks_as_much(ShapeId shape, std::int64_t count) const {
    const cluster::NodeResources& resources = view_.cluster.resources();
    const auto is_as_much = [&](const cluster::ResourceAsk& ask) {
        return resources.asked(job_.shape, ask.resource) * count ==
               resources.asked(shape, ask.resource);
    };
    return std::ranges::all_of(resources.asked(job_.shape), is_as_much) &&
           std::ranges::all_of(resources.asked(shape), is_as_much);
}

bool MovableJobs::may_stand_wherever(ShapeId shape) const {
    const auto& nodes = view_.cluster.pool(view_.pool).nodes_of_kind;
    for (std::uint16_t kind = 0; kind < nodes.size(); ++kind) {
        if (nodes[kind] == 0 || view_.cluster.allows(job_.shape, kind)) continue;
        if (view_.cluster.allows(shape, kind)) return false;
    }
    return true;
}

std::size_t MovableJobs::position_of(const Migration& movable) {
    // A job of one task was not met on another node.
    const auto at = movable.job->placed.size() > 1
                        ? std::ranges::find(jobs_, movable.job, &Migration::job)
                        : jobs_.end();
    const auto position = static_cast<std::size_t>(at - jobs_.begin());
    if (at == jobs_.end()) jobs_.push_back(movable);
    return position;
}

std::span<const std::size_t> MovableJobs::on_node(std::size_t at) const {
    return std::span(on_nodes_).subspan(first_on_node_[at],
                                        first_on_node_[at + 1] - first_on_node_[at]);
}

bool has_room_for_one(const PoolView& view, ShapeId shape) {
    return !exceeds_capacity(view, shape, 1, View::Coming) &&
           !exceeds_largest_part(view, shape, View::Coming);
}

}  // namespace berth::scheduling
