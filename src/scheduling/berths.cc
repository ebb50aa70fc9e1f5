// SPDX-License-Identifier: Apache-2.0
#include "scheduling/berths.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::Duration;
using model::TaskPlacement;

constexpr std::uint32_t kUnseen = static_cast<std::uint32_t>(-1);

// What the tasks of one gang take of a node's CPU or memory, counted while they are booked.
struct HostRoom {
    const cluster::HostUse& host;
    std::int64_t each = 0;
    std::int64_t taken = 0;

    // Whether one more task would fit if nobody else were there.
    bool take() {
        taken += each;
        return host.capacity == cluster::kUnaccounted || taken <= host.capacity;
    }
    bool is_free() const { return taken <= host.free(View::Coming); }
};

}  // namespace

End end_of(const Run& run, TimePoint now) {
    const bool has_declared = run.declared > Duration{0};
    if (has_declared && run.start + run.declared > now) return {run.start + run.declared};
    if (run.is_service) return {{}, false, true};
    return {now + std::max(now - run.start, kShortestRun), false};
}

std::span<const NodeUsers::User> NodeUsers::on(const cluster::Cluster& cluster, NodeId node) {
    known_.resize(cluster.nodes().size());
    Known& known = known_[node.index()];
    const std::uint32_t stamp = cluster.nodes()[node.index()].stamp;
    if (known.stamp == stamp) return known.users;
    known.stamp = stamp;
    known.users.clear();
    for (const JobId id : cluster.jobs_on(node)) {
        if (std::ranges::find(known.users, id, &User::job) != known.users.end()) continue;
        const Job& job = cluster.job(id);
        User user{id, 0, run_of(job)};
        for (const cluster::PlacedTask& task : job.placed) {
            if (task.place.node == node && !task.is_releasing) user.gpus |= task.place.gpu_mask;
        }
        if (user.gpus != 0) known.users.push_back(user);
    }
    std::ranges::sort(known.users, {}, &User::job);
    return known.users;
}

void Berths::open(const PoolView& view, NodeUsers& node_users) {
    view_ = &view;
    node_users_ = &node_users;
    at_.assign(view.cluster.nodes().size(), kUnseen);
    ranges_.clear();
    seats_.clear();
    users_.clear();
    shapes_ = 0;
    next_end_ = {};
}

std::span<const Berth> Berths::best_for(const Job& job, std::span<const TaskPlacement> booked) {
    const OfShape& all = of_shape(job);
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
    for (const Berth& berth : all.best_first) {
        if (std::ranges::binary_search(booked_nodes_, berth.node)) continue;
        while (other != beside_.end() && other->key() < berth.key()) best_.push_back(*other++);
        if (best_.size() >= count) break;
        best_.push_back(berth);
    }
    best_.insert(best_.end(), other, beside_.end());
    if (best_.size() < count) return {};
    return std::span(best_).first(count);
}

const Berths::OfShape& Berths::of_shape(const Job& job) {
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
    of.best_first.clear();
    for (const NodeId node : of.nodes) add(of.best_first, of.shape, node, {});
    std::ranges::sort(of.best_first, {}, &Berth::key);
    return of;
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

Berths::Node Berths::on(NodeId node) {
    std::uint32_t& at = at_[node.index()];
    if (at == kUnseen) {
        at = static_cast<std::uint32_t>(ranges_.size());
        look_at(node);
    }
    const Range& range = ranges_[at];
    return {std::span(seats_).subspan(range.first_seat, range.seats),
            std::span(users_).subspan(range.first_user, range.users)};
}

void Berths::look_at(NodeId node) {
    const cluster::NodeState& state = view_->cluster.nodes()[node.index()];
    const std::size_t first = seats_.size();
    const std::size_t first_user = users_.size();
    std::uint64_t gone = 0;
    for (int gpu = 0; gpu < state.gpus; ++gpu) seats_.push_back({gpu, 0, view_->now});
    for (const NodeUsers::User& user : node_users_->on(view_->cluster, node)) {
        const End end = end_of(user.run, view_->now);
        if (end.is_never) gone |= user.gpus;
        if (end.is_declared) next_end_ = std::min(next_end_.value_or(end.time), end.time);
        for (std::uint64_t mask = user.gpus; mask != 0; mask &= mask - 1) {
            const int gpu = std::countr_zero(mask);
            Seat& seat = seats_[first + static_cast<std::size_t>(gpu)];
            seat.free_at = std::max(seat.free_at, end.time);
            if (end.is_declared) continue;
            ++seat.unknown;
            users_.push_back({gpu, user.job});
        }
    }
    const auto here = seats_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto left = std::remove_if(here, seats_.end(), [&](const Seat& seat) {
        const bool is_used = seat.free_at > view_->now || seat.unknown > 0;
        const bool is_promised =
            !is_used && view_->cluster.free(View::Coming, node, seat.gpu) < base::kWholeGpu;
        return (gone >> seat.gpu & 1) != 0 || is_promised;
    });
    seats_.erase(left, seats_.end());
    std::ranges::sort(std::span(seats_).subspan(first), {}, &Seat::key);
    ranges_.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first_user),
                       static_cast<std::uint32_t>(seats_.size() - first),
                       static_cast<std::uint32_t>(users_.size() - first_user)});
}

void Berths::add(std::vector<Berth>& found, ShapeId shape, NodeId node,
                 std::span<const TaskPlacement> booked) {
    std::uint64_t gone = 0;
    for (const TaskPlacement& task : booked) {
        if (task.node == node) gone |= task.gpu_mask;
    }
    const Node here = on(node);
    left_.clear();
    std::ranges::copy_if(here.seats, std::back_inserter(left_),
                         [&](const Seat& seat) { return (gone >> seat.gpu & 1) == 0; });
    const auto each = static_cast<std::size_t>(view_->cluster.shape(shape).request.gpus);
    const cluster::NodeState& state = view_->cluster.nodes()[node.index()];
    HostRoom cpu{state.cpu, view_->cluster.cpu_on(shape, node)};
    HostRoom memory{state.memory, view_->cluster.memory_on(shape, node)};
    for (std::size_t first = 0; first + each <= left_.size(); first += each) {
        if (!cpu.take() || !memory.take()) return;
        Berth berth;
        berth.node = node;
        berth.declared = berth.expected = view_->now;
        for (std::size_t i = first; i < first + each; ++i) {
            const Seat& seat = left_[i];
            berth.mask |= std::uint64_t{1} << seat.gpu;
            berth.expected = std::max(berth.expected, seat.free_at);
            if (seat.unknown == 0) berth.declared = std::max(berth.declared, seat.free_at);
        }
        berth.unknown = count_unknown(here, berth.mask);
        // GPUs idle, but what stands beside them has the CPU or memory.
        if (berth.expected == view_->now && !(cpu.is_free() && memory.is_free())) {
            ++berth.unknown;
            berth.expected += kShortestRun;
        }
        found.push_back(berth);
    }
}

// Jobs on these GPUs that have not declared their end. Those of one job are neighbours.
int Berths::count_unknown(const Node& node, std::uint64_t mask) {
    int count = 0;
    JobId last;
    for (const User& user : node.unknown) {
        if ((mask >> user.gpu & 1) == 0 || user.job == last) continue;
        last = user.job;
        ++count;
    }
    return count;
}

}  // namespace berth::scheduling
