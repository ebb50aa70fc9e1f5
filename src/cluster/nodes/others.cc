// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/others.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cluster/cluster.h"

namespace berth::cluster {
namespace {

std::uint64_t highest_gpus(std::uint64_t mask, int count) {
    for (int excess = std::popcount(mask) - std::max(count, 0); excess > 0; --excess) {
        mask &= mask - 1;
    }
    return mask;
}

}  // namespace

bool Others::is_settled() const { return std::popcount(taken) == gpus && awaited == 0; }

int Others::missing() const { return gpus - std::popcount(taken | awaited); }

std::uint64_t named_gpus(const model::OthersUse& use) {
    std::uint64_t mask = 0;
    for (const int gpu : use.gpu_indices) mask |= std::uint64_t{1} << gpu;
    return mask;
}

model::OthersUse description_of(const Others& others) {
    model::OthersUse use{{others.cpu}, {others.memory}, others.gpus, {}};
    for (std::uint64_t mask = others.taken; mask != 0; mask &= mask - 1) {
        use.gpu_indices.push_back(std::countr_zero(mask));
    }
    return use;
}

Others settled(Others others, std::uint64_t free, std::uint64_t being_left) {
    others.taken = highest_gpus(others.taken, others.gpus);
    others.taken |= highest_gpus(free, others.gpus - std::popcount(others.taken));
    others.awaited = highest_gpus(being_left, others.gpus - std::popcount(others.taken));
    return others;
}

void OthersTable::set(base::NodeId node, const Others& others) {
    if (node.index() >= by_node_.size()) {
        if (others == Others{}) return;
        by_node_.resize(node.index() + 1);
    }
    by_node_[node.index()] = others;
    others.is_settled() ? (void)unsettled_.erase(node) : (void)unsettled_.insert(node);
}

int Cluster::own_gpus(NodeId node) const {
    return std::max(nodes_[node.index()].gpus - others_.on(node).gpus, 0);
}

void Cluster::set_others(NodeId id, const model::OthersUse& use) {
    BERTH_CHECK(open_trials_ == 0, "what others use does not change inside a trial");
    NodeState& node = nodes_[id.index()];
    const int own_before = own_gpus(id);
    Others next = others_.on(id);
    next.cpu = use.cpu.value;
    next.memory = use.memory.value;
    next.gpus = use.gpus;
    next.has_resources = !use.resources.empty();
    resources_.set_others(id, use.resources);
    if (next == others_.on(id) && (named_gpus(use) & ~next.taken) == 0) return;
    if (const std::uint64_t named = named_gpus(use); named != 0) {
        next.taken = named & (next.taken | free_gpus(id));
    }
    change_others(id, next);
    settle_others(id);
    ++node.stamp;
    if (!node.is_ready) return;
    PoolState& pool = pools_[node.pool.index()];
    const int more = own_gpus(id) - own_before;
    pool.capacity += base::gpus(more);
    pool.counted_capacity += MilliGpu{more * pool.weight_of(node)};
}

// That are whole and unused in both views, of a node that may be away.
std::uint64_t Cluster::free_gpus(NodeId id) const {
    const NodeState& node = nodes_[id.index()];
    std::uint64_t free = 0;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
        const std::uint32_t at = node.first_gpu + static_cast<std::uint32_t>(gpu);
        const bool is_free = gpus_.compute(View::Idle, at) == base::kWholeGpu &&
                             gpus_.compute(View::Coming, at) == base::kWholeGpu;
        free |= std::uint64_t{is_free} << gpu;
    }
    return free;
}

// Gives back before it takes, so that no GPU is promised twice on the way.
void Cluster::change_others(NodeId id, const Others& next) {
    const Others now = others_.on(id);
    const auto change = [&](std::uint64_t mask, Use use, std::int64_t sign, const Others& host) {
        change_capacity({.node = id,
                         .gpu_mask = mask,
                         .share = base::kWholeGpu,
                         .cpu = {host.cpu},
                         .memory = {host.memory}},
                        use, sign);
    };
    change(now.taken & ~next.taken, Use::Used, -1, now);
    change(now.awaited & ~next.awaited, Use::Held, -1, {});
    change(next.taken & ~now.taken, Use::Used, +1, next);
    change(next.awaited & ~now.awaited, Use::Held, +1, {});
    if (open_trials_ > 0) undo_.others.emplace_back(id, now);
    record({.what = Undo::What::Others, .job = {}, .pool = {}});
    others_.set(id, next);
}

void Cluster::undo_others() {
    const auto [node, before] = undo_.others.back();
    undo_.others.pop_back();
    const int open = std::exchange(open_trials_, 0);  // this is no change to be taken back
    change_others(node, before);
    open_trials_ = open;
    ++nodes_[node.index()].stamp;
}

void Cluster::settle_others(NodeId id) {
    const Others before = others_.on(id);
    if (before.is_settled()) return;
    Others next = before;
    next.awaited = 0;
    if (before.awaited != 0) change_others(id, next);
    const NodeState& node = nodes_[id.index()];
    const std::uint64_t free = free_gpus(id);
    std::uint64_t being_left = 0;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
        const std::uint32_t at = node.first_gpu + static_cast<std::uint32_t>(gpu);
        const bool is_left = gpus_.compute(View::Coming, at) == base::kWholeGpu;
        being_left |= std::uint64_t{is_left} << gpu;
    }
    next = settled(next, free, being_left & ~free);
    change_others(id, next);
    if (next != before) ++nodes_[id.index()].stamp;
}

void Cluster::settle_others() {
    if (others_.unsettled().empty()) return;
    const std::vector<NodeId> nodes(others_.unsettled().begin(), others_.unsettled().end());
    for (const NodeId node : nodes) settle_others(node);
}

void Cluster::let_others_yield(std::span<const TaskPlacement> tasks) {
    if (others_.empty()) return;
    for (const TaskPlacement& task : tasks) {
        Others next = others_.on(task.node);
        next.taken &= ~task.gpu_mask;
        next.awaited &= ~task.gpu_mask;
        if (next != others_.on(task.node)) change_others(task.node, next);
    }
}

}  // namespace berth::cluster
