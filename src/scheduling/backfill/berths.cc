// SPDX-License-Identifier: Apache-2.0
#include "scheduling/backfill/berths.h"

#include <algorithm>
#include <iterator>

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::TaskPlacement;

// What the tasks of one gang take of a node's CPU, memory or another resource, counted while they
// are booked.
struct HostRoom {
    cluster::HostUse host;
    std::int64_t each = 0;
    std::int64_t others = 0;
    std::int64_t taken = 0;

    // Whether one more task would fit if no other job were there.
    bool take() {
        taken += each;
        return host.capacity == cluster::kUnaccounted || taken <= host.capacity - others;
    }
    bool is_free() const { return taken <= host.free(View::Coming); }
};

}  // namespace

void Berths::open(const PoolView& view, NodeSeats& seats) {
    view_ = &view;
    seats_ = &seats;
    shapes_ = 0;
    next_end_ = {};
}

std::span<const Berth> Berths::best_for(const Job& job, std::span<const TaskPlacement> booked) {
    OfShape& all = of_shape(job);
    const auto is_looked_at = [&](NodeId node) {
        return std::ranges::binary_search(all.nodes, node);
    };
    booked_nodes_.clear();
    for (const TaskPlacement& task : booked) {
        if (is_looked_at(task.node)) booked_nodes_.push_back(task.node);
    }
    std::ranges::sort(booked_nodes_);
    const auto repeated = std::ranges::unique(booked_nodes_);
    booked_nodes_.erase(repeated.begin(), repeated.end());
    beside_.clear();
    for (const NodeId node : booked_nodes_) add(beside_, job.shape, node, booked);
    std::ranges::sort(beside_, {}, &Berth::key);
    const auto count = static_cast<std::size_t>(job.ask());
    best_.clear();
    auto other = beside_.begin();
    for (std::size_t at = 0; at < all.berths.size(); ++at) {
        if (at == all.sorted) sort_more(all, count);
        const Berth& berth = all.berths[at];
        if (std::ranges::binary_search(booked_nodes_, berth.node)) continue;
        while (other != beside_.end() && other->key() < berth.key()) best_.push_back(*other++);
        if (best_.size() >= count) break;
        best_.push_back(berth);
    }
    best_.insert(best_.end(), other, beside_.end());
    if (best_.size() < count) return {};
    return std::span(best_).first(count);
}

Berths::OfShape& Berths::of_shape(const Job& job) {
    const std::size_t nodes_max = std::max(kBookingNodes, 2 * static_cast<std::size_t>(job.ask()));
    const auto used = std::span(of_shapes_).first(shapes_);
    const auto known = std::ranges::find_if(used, [&](const OfShape& of) {
        return of.shape == job.shape && of.nodes_max == nodes_max;
    });
    if (known != used.end()) return *known;
    if (shapes_ == of_shapes_.size()) of_shapes_.emplace_back();
    OfShape& of = of_shapes_[shapes_++];
    of.shape = job.shape;
    of.nodes_max = nodes_max;
    find_nodes_to_look_at(of);
    of.berths.clear();
    of.sorted = 0;
    for (const NodeId node : of.nodes) add(of.berths, of.shape, node, {});
    return of;
}

void Berths::sort_more(OfShape& of, std::size_t count) {
    const auto begin = of.berths.begin() + static_cast<std::ptrdiff_t>(of.sorted);
    of.sorted = std::min(of.sorted + count, of.berths.size());
    const auto middle = of.berths.begin() + static_cast<std::ptrdiff_t>(of.sorted);
    std::ranges::partial_sort(begin, middle, of.berths.end(), {}, &Berth::key);
}

void Berths::find_nodes_to_look_at(OfShape& of) const {
    const auto& pool = view_->cluster.pool(view_->pool);
    const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
    of.nodes.clear();
    for (int count = pool.gpus_per_node_max; count >= 0; --count) {
        const cluster::NodeSet& with = free.nodes_with(count);
        for (NodeId node = with.next({0}); node.is_valid() && of.nodes.size() < of.nodes_max;
             node = with.next({node.value + 1})) {
            const auto kind = view_->cluster.nodes()[node.index()].kind;
            if (view_->cluster.allows(of.shape, kind)) of.nodes.push_back(node);
        }
    }
    std::ranges::sort(of.nodes);
}

void Berths::add(std::vector<Berth>& found, ShapeId shape, NodeId node,
                 std::span<const TaskPlacement> booked) {
    std::uint64_t gone = 0;
    for (const TaskPlacement& task : booked) {
        if (task.node == node) gone |= task.gpu_mask;
    }
    const NodeSeats::Node& here = seats_->on(*view_, node);
    if (here.next_end) next_end_ = std::min(next_end_.value_or(*here.next_end), *here.next_end);
    const int each = view_->cluster.shape(shape).request.gpus;
    const cluster::NodeState& state = view_->cluster.nodes()[node.index()];
    const cluster::Others& others = view_->cluster.others().on(node);
    base::SmallVector<HostRoom, 4> rooms{
        {state.cpu, view_->cluster.cpu_on(shape, node), others.cpu},
        {state.memory, view_->cluster.memory_on(shape, node), others.memory}};
    const cluster::NodeResources& resources = view_->cluster.resources();
    for (const cluster::ResourceAsk& ask : resources.asked(shape)) {
        const cluster::HostUse& use = resources.on(node, ask.resource);
        const bool is_said = use.capacity != cluster::kUnaccounted;
        if (!is_said && !resources.is_pods(ask.resource)) return;
        rooms.push_back({use, ask.amount, resources.used_by_others(node, ask.resource)});
    }
    const Berth empty{.declared = view_->now, .expected = view_->now, .node = node};
    Berth berth = empty;
    int taken = 0;
    for (const NodeSeats::Seat& seat : here.seats) {
        if ((gone >> seat.gpu & 1) != 0) continue;
        berth.mask |= std::uint64_t{1} << seat.gpu;
        berth.expected = std::max(berth.expected, seat.free_at(view_->now));
        if (seat.unknown == 0) berth.declared = std::max(berth.declared, seat.declared);
        if (++taken < each) continue;
        // Each counts the task, whether it fits or not.
        bool fits = true;
        for (HostRoom& room : rooms) fits = room.take() && fits;
        if (!fits) return;
        berth.unknown = count_unknown(here, berth.mask);
        // GPUs idle, but what stands beside them has the CPU, memory or another resource.
        if (berth.expected == view_->now && !std::ranges::all_of(rooms, &HostRoom::is_free)) {
            ++berth.unknown;
            berth.expected += kShortestRun;
        }
        found.push_back(berth);
        berth = empty;
        taken = 0;
    }
}

// Those of one job are neighbours.
int Berths::count_unknown(const NodeSeats::Node& node, std::uint64_t mask) {
    int count = 0;
    JobId last;
    for (const NodeSeats::User& user : node.unknown) {
        if ((mask >> user.gpu & 1) == 0 || user.job == last) continue;
        last = user.job;
        ++count;
    }
    return count;
}

}  // namespace berth::scheduling
