// SPDX-License-Identifier: Apache-2.0
//
// The fast-changing half: what is used, released and promised of every GPU, with both views and
// all indexes kept exact.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "cluster/cluster.h"

namespace berth::cluster {
namespace {

constexpr std::array<View, 2> kViews{View::Idle, View::Coming};

constexpr std::size_t index(View view) { return static_cast<std::size_t>(view); }

// Calls `visit` with each GPU index in the mask.
template <typename Visit>
void for_each_gpu(std::uint64_t mask, Visit&& visit) {
    for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

MilliGpu free_of(const GpuUse& use, View view) {
    const std::int16_t promised = view == View::Idle ? std::max(use.releasing, use.held) : use.held;
    return {1000 - use.used - promised};
}

}  // namespace

MilliGpu Cluster::free(View view, NodeId node, int gpu) const {
    const NodeState& state = nodes_[node.index()];
    if (!state.is_ready) return {0};
    return free_of(gpu_uses_[state.first_gpu + static_cast<std::size_t>(gpu)], view);
}

MilliGpu Cluster::unused(NodeId node, int gpu) const {
    const GpuUse& use = gpu_uses_[nodes_[node.index()].first_gpu + static_cast<std::size_t>(gpu)];
    return {1000 - use.used - use.releasing};
}

bool Cluster::could_use(NodeId node, int gpu, MilliGpu share) const {
    return share <= unused(node, gpu);
}

// Takes a node into all indexes of its pool (sign +1), or out of them (-1).
void Cluster::index_node(NodeId id, std::int64_t sign) {
    NodeState& node = nodes_[id.index()];
    if (!node.is_ready) return;
    PoolState& pool = pools_[node.pool.index()];
    pool.capacity += base::gpus(node.gpus) * sign;
    pool.counted_capacity += MilliGpu{node.gpus * pool.weight_of(node)} * sign;
    for (const View view : kViews) {
        FreeIndex& free = pool.free[index(view)];
        node.whole[index(view)] = 0;
        MilliGpu amount_here{0};
        for (int gpu = 0; gpu < node.gpus; ++gpu) {
            const MilliGpu amount = this->free(view, id, gpu);
            pool.free_total[index(view)] += amount * sign;
            amount_here += amount;
            if (amount == base::kWholeGpu) {
                node.whole[index(view)] |= std::uint64_t{1} << gpu;
            } else if (amount > MilliGpu{0}) {
                if (sign > 0) free.partial().insert({amount, id, gpu});
                if (sign < 0) free.partial().erase({amount, id, gpu});
            }
        }
        const int whole = std::popcount(node.whole[index(view)]);
        if (sign > 0) free.insert(id, whole);
        if (sign < 0) free.erase(id, whole);
        pool.domains.count_node(node.domain, index(view), whole, sign);
        pool.domains.count_free(node.domain, index(view), amount_here * sign);
    }
    if (sign < 0) node.whole = {};
}

void Cluster::change_gpu(NodeState& node, NodeId id, int gpu, Kind kind, MilliGpu amount) {
    GpuUse& use = gpu_uses_[node.first_gpu + static_cast<std::size_t>(gpu)];
    const GpuUse before = use;
    std::int16_t& field = kind == Kind::Used        ? use.used
                          : kind == Kind::Releasing ? use.releasing
                                                    : use.held;
    field = static_cast<std::int16_t>(field + amount.value);
    BERTH_CHECK(field >= 0 && use.used + use.held <= 1000 && use.used + use.releasing <= 1000,
                "a GPU is never promised twice");
    if (!node.is_ready) return;
    PoolState& pool = pools_[node.pool.index()];
    for (const View view : kViews) {
        const MilliGpu old_free = free_of(before, view);
        const MilliGpu new_free = free_of(use, view);
        if (old_free == new_free) continue;
        pool.free_total[index(view)] += new_free - old_free;
        FreeIndex& free = pool.free[index(view)];
        const auto is_partial = [](MilliGpu f) { return f > MilliGpu{0} && f < base::kWholeGpu; };
        if (is_partial(old_free)) free.partial().erase({old_free, id, gpu});
        if (is_partial(new_free)) free.partial().insert({new_free, id, gpu});
        const std::uint64_t bit = std::uint64_t{1} << gpu;
        if (old_free == base::kWholeGpu) node.whole[index(view)] &= ~bit;
        if (new_free == base::kWholeGpu) node.whole[index(view)] |= bit;
    }
}

void Cluster::change_capacity(const TaskPlacement& task, Kind kind, std::int64_t sign) {
    NodeState& node = nodes_[task.node.index()];
    const auto before = node.whole;
    PoolState& pool = pools_[node.pool.index()];
    const auto free_before = pool.free_total;
    for_each_gpu(task.gpu_mask,
                 [&](int gpu) { change_gpu(node, task.node, gpu, kind, task.share * sign); });
    const auto change_host = [&](HostUse& host, std::int64_t amount) {
        (kind == Kind::Used        ? host.used
         : kind == Kind::Releasing ? host.releasing
                                   : host.held) += amount * sign;
    };
    change_host(node.cpu, task.cpu.value);
    change_host(node.memory, task.memory.value);
    if (!node.is_ready) return;
    for (const View view : kViews) {
        pool.domains.count_free(node.domain, index(view),
                                pool.free_total[index(view)] - free_before[index(view)]);
        const int old_whole = std::popcount(before[index(view)]);
        const int new_whole = std::popcount(node.whole[index(view)]);
        if (old_whole == new_whole) continue;
        pool.free[index(view)].erase(task.node, old_whole);
        pool.free[index(view)].insert(task.node, new_whole);
        pool.domains.count_node(node.domain, index(view), old_whole, -1);
        pool.domains.count_node(node.domain, index(view), new_whole, +1);
    }
}

void Cluster::take(View view, const TaskPlacement& task) {
    change_capacity(task, view == View::Idle ? Kind::Used : Kind::Held, +1);
    record_take(view, task, Undo::What::Take);
}

void Cluster::give_back(View view, const TaskPlacement& task) {
    change_capacity(task, view == View::Idle ? Kind::Used : Kind::Held, -1);
    record_take(view, task, Undo::What::GiveBack);
}

void Cluster::record_take(View view, const TaskPlacement& task, Undo::What what) {
    if (open_trials_ == 0) return;
    undo_.push_back({.what = what,
                     .job = {},
                     .pool = {},
                     .first = undo_tasks_.size(),
                     .count = 1,
                     .view = view});
    undo_tasks_.push_back(task);
}

}  // namespace berth::cluster
