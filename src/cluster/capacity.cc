// SPDX-License-Identifier: Apache-2.0
//
// The fast-changing half: what is used, released and promised of every GPU, with both views and
// all indexes kept exact.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "cluster/cluster.h"
#include "cluster/gang.h"

namespace berth::cluster {
namespace {

constexpr std::array<View, 2> kViews{View::Idle, View::Coming};

constexpr std::size_t index(View view) { return static_cast<std::size_t>(view); }

// Calls `visit` with each GPU index in the mask.
template <typename Visit>
void for_each_gpu(std::uint64_t mask, Visit&& visit) {
    for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

bool is_partial(MilliGpu compute) { return compute > MilliGpu{0} && compute < base::kWholeGpu; }

// The largest share of both alike.
MilliGpu share_left(const GpuPart& free_part, base::Bytes memory) {
    if (!is_partial(free_part.compute) || memory == base::Bytes{0}) return free_part.compute;
    return std::min(free_part.compute, model::part_rounded_down(free_part.memory, memory));
}

}  // namespace

GpuPart Cluster::whole_gpu(NodeId node) const {
    return {base::kWholeGpu, kinds_[nodes_[node.index()].kind].gpu_memory};
}

MilliGpu Cluster::compute_left(View view, NodeId node, int gpu) const {
    const NodeState& state = nodes_[node.index()];
    if (!state.is_ready) return {0};
    return gpus_.compute(view, state.first_gpu + static_cast<std::uint32_t>(gpu));
}

GpuPart Cluster::free_part(View view, NodeId node, int gpu) const {
    const NodeState& state = nodes_[node.index()];
    if (!state.is_ready) return {};
    const std::uint32_t at = state.first_gpu + static_cast<std::uint32_t>(gpu);
    return {gpus_.compute(view, at), gpus_.memory(view, at, kinds_[state.kind].gpu_memory)};
}

MilliGpu Cluster::free(View view, NodeId node, int gpu) const {
    const NodeState& state = nodes_[node.index()];
    if (!state.is_ready) return {0};
    const MilliGpu compute = gpus_.compute(view, state.first_gpu + static_cast<std::uint32_t>(gpu));
    if (!is_partial(compute)) return compute;
    return share_left(free_part(view, node, gpu), kinds_[state.kind].gpu_memory);
}

GpuPart Cluster::unused(NodeId node, int gpu) const {
    const NodeState& state = nodes_[node.index()];
    return gpus_.unused(state.first_gpu + static_cast<std::uint32_t>(gpu),
                        kinds_[state.kind].gpu_memory);
}

// Takes a node into all indexes of its pool (sign +1), or out of them (-1).
void Cluster::index_node(NodeId id, std::int64_t sign) {
    NodeState& node = nodes_[id.index()];
    if (!node.is_ready) return;
    PoolState& pool = pools_[node.pool.index()];
    const base::Bytes memory = kinds_[node.kind].gpu_memory;
    pool.capacity += base::gpus(own_gpus(id)) * sign;
    pool.counted_capacity += MilliGpu{own_gpus(id) * pool.weight_of(node)} * sign;
    for (const View view : kViews) {
        FreeIndex& free = pool.free[index(view)];
        node.whole[index(view)] = 0;
        MilliGpu amount_here{0};
        for (int gpu = 0; gpu < node.gpus; ++gpu) {
            const GpuPart free_part = this->free_part(view, id, gpu);
            const MilliGpu amount = share_left(free_part, memory);
            pool.free_total[index(view)] += amount * sign;
            amount_here += amount;
            if (amount == base::kWholeGpu) {
                node.whole[index(view)] |= std::uint64_t{1} << gpu;
            } else if (is_partial(free_part.compute)) {
                const PartialGpu part{both_parts(free_part, memory), id, gpu};
                sign > 0 ? free.insert(part, free_part) : free.erase(part, free_part);
            }
        }
        const int whole = node.free_gpus(view);
        if (sign > 0) free.insert(id, whole);
        if (sign < 0) free.erase(id, whole);
        pool.domains.count_node(node.domain, index(view), whole, sign);
        pool.domains.count_free(node.domain, index(view), amount_here * sign);
    }
    if (sign < 0) node.whole = {};
}

// Most GPUs are unused or one task's own, before and after: these cases come first.
void Cluster::change_gpu(NodeState& node, NodeId id, int gpu, Use use, const GpuPart& amount) {
    const std::uint32_t at = node.first_gpu + static_cast<std::uint32_t>(gpu);
    if (amount.memory != base::Bytes{0}) return change_shared(node, {0, id, gpu}, use, amount);
    const std::array before{gpus_.compute(View::Idle, at), gpus_.compute(View::Coming, at)};
    gpus_.change_compute(at, use, amount.compute);
    if (!node.is_ready) return;
    PoolState& pool = pools_[node.pool.index()];
    for (const View view : kViews) {
        const MilliGpu old_free = before[index(view)];
        const MilliGpu new_free = gpus_.compute(view, at);
        if (old_free == new_free) continue;
        if (is_partial(old_free) || is_partial(new_free)) {
            const base::Bytes memory = gpus_.memory(view, at, kinds_[node.kind].gpu_memory);
            reindex(node, {0, id, gpu}, view, {old_free, memory}, {new_free, memory});
            continue;
        }
        pool.free_total[index(view)] += new_free - old_free;
        node.whole[index(view)] ^= std::uint64_t{1} << gpu;
    }
}

void Cluster::change_shared(NodeState& node, PartialGpu gpu, Use use, const GpuPart& amount) {
    const std::uint32_t at = node.first_gpu + static_cast<std::uint32_t>(gpu.gpu);
    const base::Bytes memory = kinds_[node.kind].gpu_memory;
    const auto left = [&](View view) {
        return GpuPart{gpus_.compute(view, at), gpus_.memory(view, at, memory)};
    };
    const std::array before{left(View::Idle), left(View::Coming)};
    gpus_.change_compute(at, use, amount.compute);
    gpus_.change_memory(at, use, amount.memory, memory);
    if (!node.is_ready) return;
    for (const View view : kViews) {
        if (const GpuPart now = left(view); now != before[index(view)]) {
            reindex(node, gpu, view, before[index(view)], now);
        }
    }
}

// After so much was left of a GPU, so much is.
void Cluster::reindex(NodeState& node, PartialGpu gpu, View view, GpuPart before, GpuPart now) {
    const base::Bytes memory = kinds_[node.kind].gpu_memory;
    PoolState& pool = pools_[node.pool.index()];
    pool.free_total[index(view)] += share_left(now, memory) - share_left(before, memory);
    FreeIndex& free = pool.free[index(view)];
    const std::uint64_t bit = std::uint64_t{1} << gpu.gpu;
    if (before.compute == base::kWholeGpu) node.whole[index(view)] &= ~bit;
    if (now.compute == base::kWholeGpu) node.whole[index(view)] |= bit;
    if (is_partial(before.compute)) {
        gpu.left = both_parts(before, memory);
        free.erase(gpu, before);
    }
    if (is_partial(now.compute)) {
        gpu.left = both_parts(now, memory);
        free.insert(gpu, now);
    }
}

void Cluster::change_capacity(const TaskPlacement& task, Use use, std::int64_t sign) {
    changed_.capacity.add(task.node, 2 * nodes_.size());
    NodeState& node = nodes_[task.node.index()];
    const auto before = node.whole;
    PoolState& pool = pools_[node.pool.index()];
    const auto free_before = pool.free_total;
    const GpuPart part = task.part() * sign;
    for_each_gpu(task.gpu_mask, [&](int gpu) { change_gpu(node, task.node, gpu, use, part); });
    const auto change_host = [&](HostUse& host, std::int64_t amount) {
        pool.hosts_being_left -= host.is_being_left() ? 1 : 0;
        (use == Use::Used        ? host.used
         : use == Use::Releasing ? host.releasing
                                 : host.reserved) += amount * sign;
        pool.hosts_being_left += host.is_being_left() ? 1 : 0;
    };
    change_host(node.cpu, task.cpu.value);
    change_host(node.memory, task.memory.value);
    if (!node.is_ready) return;
    for (const View view : kViews) {
        pool.domains.count_free(node.domain, index(view),
                                pool.free_total[index(view)] - free_before[index(view)]);
        const int old_whole = std::popcount(before[index(view)]);
        const int new_whole = node.free_gpus(view);
        if (old_whole == new_whole) continue;
        pool.free[index(view)].erase(task.node, old_whole);
        pool.free[index(view)].insert(task.node, new_whole);
        pool.domains.count_node(node.domain, index(view), old_whole, -1);
        pool.domains.count_node(node.domain, index(view), new_whole, +1);
    }
}

// Without a shape no other resources change than the task says.
void Cluster::change_task(ShapeId shape, const TaskPlacement& task, Use use, std::int64_t sign) {
    if (resources_.is_used() && shape.is_valid()) {
        resources_.change(asked_by(*this, shape, task.task), task.node, use, sign);
    }
    change_capacity(task, use, sign);
}

void Cluster::take(View view, ShapeId shape, const TaskPlacement& task) {
    change_task(shape, task, view == View::Idle ? Use::Used : Use::Held, +1);
    record_take(view, shape, task, Undo::What::Take);
}

void Cluster::give_back(View view, ShapeId shape, const TaskPlacement& task) {
    change_task(shape, task, view == View::Idle ? Use::Used : Use::Held, -1);
    record_take(view, shape, task, Undo::What::GiveBack);
}

void Cluster::record_take(View view, ShapeId shape, const TaskPlacement& task, Undo::What what) {
    if (open_trials_ == 0) return;
    undo_.entries.push_back({.what = what,
                             .job = {},
                             .pool = {},
                             .first = undo_.tasks.size(),
                             .count = 1,
                             .view = view,
                             .shape = shape});
    undo_.tasks.push_back(task);
}

}  // namespace berth::cluster
