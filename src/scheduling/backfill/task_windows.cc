// SPDX-License-Identifier: Apache-2.0
#include "scheduling/backfill/task_windows.h"

#include <algorithm>
#include <iterator>

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::TaskPlacement;

// What the tasks of one gang take of a node's CPU, memory or another resource, counted while they
// are reserved.
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

void TaskWindows::open(const PoolView& view, NodeWindows& windows) {
    view_ = &view;
    windows_ = &windows;
    shapes_ = 0;
    next_end_ = {};
}

std::span<const TaskWindow> TaskWindows::best_for(const Job& job,
                                                  std::span<const TaskPlacement> reserved) {
    ShapeWindows& all = of_shape(job);
    const auto is_looked_at = [&](NodeId node) {
        return std::ranges::binary_search(all.nodes, node);
    };
    reserved_nodes_.clear();
    for (const TaskPlacement& task : reserved) {
        if (is_looked_at(task.node)) reserved_nodes_.push_back(task.node);
    }
    std::ranges::sort(reserved_nodes_);
    const auto repeated = std::ranges::unique(reserved_nodes_);
    reserved_nodes_.erase(repeated.begin(), repeated.end());
    beside_.clear();
    for (const NodeId node : reserved_nodes_) add(beside_, job.shape, node, reserved);
    std::ranges::sort(beside_, {}, &TaskWindow::key);
    const auto count = static_cast<std::size_t>(job.ask());
    best_.clear();
    auto other = beside_.begin();
    for (std::size_t at = 0; at < all.windows.size(); ++at) {
        if (at == all.sorted) sort_more(all, count);
        const TaskWindow& window = all.windows[at];
        if (std::ranges::binary_search(reserved_nodes_, window.node)) continue;
        while (other != beside_.end() && other->key() < window.key()) best_.push_back(*other++);
        if (best_.size() >= count) break;
        best_.push_back(window);
    }
    best_.insert(best_.end(), other, beside_.end());
    if (best_.size() < count) return {};
    return std::span(best_).first(count);
}

TaskWindows::ShapeWindows& TaskWindows::of_shape(const Job& job) {
    const std::size_t nodes_max = std::max(kBackfillNodes, 2 * static_cast<std::size_t>(job.ask()));
    const auto used = std::span(by_shape_).first(shapes_);
    const auto known = std::ranges::find_if(used, [&](const ShapeWindows& same) {
        return same.shape == job.shape && same.nodes_max == nodes_max;
    });
    if (known != used.end()) return *known;
    if (shapes_ == by_shape_.size()) by_shape_.emplace_back();
    ShapeWindows& same = by_shape_[shapes_++];
    same.shape = job.shape;
    same.nodes_max = nodes_max;
    find_nodes_to_look_at(same);
    same.windows.clear();
    same.sorted = 0;
    for (const NodeId node : same.nodes) add(same.windows, same.shape, node, {});
    return same;
}

void TaskWindows::sort_more(ShapeWindows& same, std::size_t count) {
    const auto begin = same.windows.begin() + static_cast<std::ptrdiff_t>(same.sorted);
    same.sorted = std::min(same.sorted + count, same.windows.size());
    const auto middle = same.windows.begin() + static_cast<std::ptrdiff_t>(same.sorted);
    std::ranges::partial_sort(begin, middle, same.windows.end(), {}, &TaskWindow::key);
}

void TaskWindows::find_nodes_to_look_at(ShapeWindows& same) const {
    const auto& pool = view_->cluster.pool(view_->pool);
    const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
    same.nodes.clear();
    for (int count = pool.gpus_per_node_max; count >= 0; --count) {
        const cluster::NodeSet& with = free.nodes_with(count);
        for (NodeId node = with.next({0}); node.is_valid() && same.nodes.size() < same.nodes_max;
             node = with.next({node.value + 1})) {
            const auto kind = view_->cluster.nodes()[node.index()].kind;
            if (view_->cluster.allows(same.shape, kind)) same.nodes.push_back(node);
        }
    }
    std::ranges::sort(same.nodes);
}

void TaskWindows::add(std::vector<TaskWindow>& found, ShapeId shape, NodeId node,
                      std::span<const TaskPlacement> reserved) {
    std::uint64_t unusable = 0;
    for (const TaskPlacement& task : reserved) {
        if (task.node == node) unusable |= task.gpu_mask;
    }
    const NodeWindows::Node& on_node = windows_->on(*view_, node);
    if (on_node.next_end)
        next_end_ = std::min(next_end_.value_or(*on_node.next_end), *on_node.next_end);
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
    const TaskWindow empty{.declared = view_->now, .expected = view_->now, .node = node};
    TaskWindow window = empty;
    int taken = 0;
    for (const NodeWindows::GpuWindow& gpu : on_node.windows) {
        if ((unusable >> gpu.gpu & 1) != 0) continue;
        window.mask |= std::uint64_t{1} << gpu.gpu;
        window.expected = std::max(window.expected, gpu.free_at(view_->now));
        if (gpu.unknown == 0) window.declared = std::max(window.declared, gpu.declared);
        if (++taken < each) continue;
        // Each counts the task, whether it fits or not.
        bool fits = true;
        for (HostRoom& host : rooms) fits = host.take() && fits;
        if (!fits) return;
        window.unknown = count_unknown(on_node, window.mask);
        // GPUs idle, but what stands beside them has the CPU, memory or another resource.
        if (window.expected == view_->now && !std::ranges::all_of(rooms, &HostRoom::is_free)) {
            ++window.unknown;
            window.expected += kShortestRun;
        }
        found.push_back(window);
        window = empty;
        taken = 0;
    }
}

// Those of one job are neighbours.
int TaskWindows::count_unknown(const NodeWindows::Node& node, std::uint64_t mask) {
    int count = 0;
    JobId last;
    for (const NodeWindows::User& user : node.unknown) {
        if ((mask >> user.gpu & 1) == 0 || user.job == last) continue;
        last = user.job;
        ++count;
    }
    return count;
}

}  // namespace berth::scheduling
