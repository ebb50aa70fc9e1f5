// SPDX-License-Identifier: Apache-2.0
#include "scheduling/place/free_capacity.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "cluster/gang.h"

namespace berth::scheduling {
namespace {

// None of a resource that a node does not say; pods are not bounded there.
std::int64_t free_of_other(const cluster::NodeResources& resources, NodeId node,
                           std::uint32_t resource, const auto& amount_of) {
    const cluster::HostUse& use = resources.on(node, resource);
    if (use.capacity != cluster::kUnaccounted) return amount_of(use);
    return resources.is_pods(resource) ? FreeCapacity::kUnbounded : -FreeCapacity::kUnbounded;
}

std::int64_t free_of_host(const cluster::HostUse& use, const auto& amount_of) {
    return use.capacity == cluster::kUnaccounted ? FreeCapacity::kUnbounded : amount_of(use);
}

// How many tasks of `gpus` distinct GPUs each fit, at most `tasks`, when GPU i has room for
// parts[i] of them: t tasks do when the sum of min(t, parts[i]) is at least t x gpus.
int most_tasks(const std::vector<std::int64_t>& parts, int gpus, int tasks) {
    if (gpus == 0) return tasks;
    const std::int64_t all = std::reduce(parts.begin(), parts.end());
    tasks = static_cast<int>(std::min<std::int64_t>(tasks, all / gpus));
    for (; tasks > 0; --tasks) {
        std::int64_t slots = 0;
        for (const std::int64_t count : parts) slots += std::min<std::int64_t>(count, tasks);
        if (slots >= std::int64_t{tasks} * gpus) break;
    }
    return tasks;
}

}  // namespace

std::int64_t parts_in(const model::GpuPart& free, const model::GpuPart& part) {
    const std::int64_t by_compute = std::max<std::int64_t>(free.compute.value, 0) /
                                    std::max<std::int64_t>(part.compute.value, 1);
    if (part.memory == base::Bytes{0}) return by_compute;
    return std::min(by_compute, free.memory.value / part.memory.value);
}

TaskNeed::TaskNeed(const PoolView& view, ShapeId shape, NodeId node)
    : cluster_(view.cluster),
      node_(node),
      others_(cluster_.resources().asked(shape)),
      part_(cluster_.part_on(shape, node)),
      node_gpus_(cluster_.nodes()[node.index()].gpus),
      gpus_(cluster_.shape(shape).request.gpus),
      cpu_(cluster_.cpu_on(shape, node)),
      memory_(cluster_.memory_on(shape, node)) {
    if (gpus_ > 0) owed_ = cluster_.others().on(node).missing();
}

void TaskNeed::read_host(FreeCapacity& free, const auto& amount_of) const {
    const cluster::NodeState& state = cluster_.nodes()[node_.index()];
    free.cpu = free_of_host(state.cpu, amount_of);
    free.memory = free_of_host(state.memory, amount_of);
    for (std::size_t i = 0; i < others_.size(); ++i) {
        free.other[i] = free_of_other(cluster_.resources(), node_, others_[i].resource, amount_of);
    }
}

void TaskNeed::read(View capacity, FreeCapacity& free) const {
    for (std::size_t at = 0; at < node_gpus_; ++at) {
        const int gpu = static_cast<int>(at);
        free.compute[at] =
            static_cast<std::int32_t>(cluster_.compute_left(capacity, node_, gpu).value);
        if (!counts_gpu_memory()) continue;
        free.gpu_memory[at] = cluster_.free_part(capacity, node_, gpu).memory.value;
    }
    read_host(free, [&](const cluster::HostUse& use) { return use.free(capacity); });
}

void TaskNeed::read_when_empty(FreeCapacity& free) const {
    const model::GpuPart whole = cluster_.whole_gpu(node_);
    std::fill_n(free.compute.begin(), node_gpus_, static_cast<std::int32_t>(whole.compute.value));
    std::fill_n(free.gpu_memory.begin(), node_gpus_, whole.memory.value);
    read_host(free, [](const cluster::HostUse& use) { return use.capacity; });
}

void TaskNeed::copy(const FreeCapacity& from, FreeCapacity& to) const {
    std::copy_n(from.compute.begin(), node_gpus_, to.compute.begin());
    if (counts_gpu_memory()) {
        std::copy_n(from.gpu_memory.begin(), node_gpus_, to.gpu_memory.begin());
    }
    to.cpu = from.cpu;
    to.memory = from.memory;
    std::copy_n(from.other.begin(), others_.size(), to.other.begin());
}

// Whole GPUs bring their memory with them.
void TaskNeed::give(FreeCapacity& free, const model::TaskPlacement& task, JobId job) const {
    if (task.node != node_) return;
    for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
        const auto gpu = static_cast<std::size_t>(std::countr_zero(mask));
        free.compute[gpu] += static_cast<std::int32_t>(task.share.value);
        if (counts_gpu_memory()) free.gpu_memory[gpu] += task.gpu_memory.value;
    }
    free.cpu += task.cpu.value;
    free.memory += task.memory.value;
    if (others_.empty()) return;
    const ShapeId shape = cluster::asked_by(cluster_, cluster_.job(job).shape, task.task);
    for (std::size_t i = 0; i < others_.size(); ++i) {
        free.other[i] += cluster_.resources().asked(shape, others_[i].resource);
    }
}

bool TaskNeed::has_part(const FreeCapacity& free, std::size_t gpu, const FreeCapacity* more) const {
    const std::int64_t compute = more != nullptr ? more->compute[gpu] : 0;
    if (free.compute[gpu] + compute < part_.compute.value) return false;
    if (!counts_gpu_memory()) return true;
    const std::int64_t memory = more != nullptr ? more->gpu_memory[gpu] : 0;
    return free.gpu_memory[gpu] + memory >= part_.memory.value;
}

int TaskNeed::gpus_fitting(const FreeCapacity& free, const FreeCapacity* more) const {
    int fitting = 0;
    for (std::size_t gpu = 0; gpu < node_gpus_; ++gpu) fitting += has_part(free, gpu, more) ? 1 : 0;
    return fitting;
}

bool TaskNeed::has_owed(const FreeCapacity& free, const FreeCapacity* more) const {
    int whole = 0;
    for (std::size_t gpu = 0; gpu < node_gpus_ && owed_ > 0; ++gpu) {
        const std::int32_t compute = more != nullptr ? more->compute[gpu] : 0;
        whole += free.compute[gpu] + compute >= base::kWholeGpu.value ? 1 : 0;
    }
    return whole >= owed_;
}

bool TaskNeed::fits(const FreeCapacity& free, const FreeCapacity* more) const {
    for (std::size_t i = 0; i < others_.size(); ++i) {
        const std::int64_t extra = more != nullptr ? more->other[i] : 0;
        if (free.other[i] + extra < others_[i].amount) return false;
    }
    return free.cpu + (more != nullptr ? more->cpu : 0) >= cpu_ &&
           free.memory + (more != nullptr ? more->memory : 0) >= memory_ &&
           gpus_fitting(free, more) >= gpus_ + owed_ && has_owed(free, more);
}

int TaskNeed::gpus_missing(const FreeCapacity& free) const {
    return gpus_ + owed_ - gpus_fitting(free, nullptr);
}

int TaskNeed::slots(const FreeCapacity& free, int tasks) const {
    tasks =
        cluster::slots_within(cluster::slots_within(tasks, free.cpu, cpu_), free.memory, memory_);
    for (std::size_t i = 0; i < others_.size(); ++i) {
        tasks = cluster::slots_within(tasks, free.other[i], others_[i].amount);
    }
    std::vector<std::int64_t> parts(gpus_ > 0 ? node_gpus_ : 0);
    for (std::size_t gpu = 0; gpu < parts.size(); ++gpu) {
        const base::Bytes memory{counts_gpu_memory() ? free.gpu_memory[gpu] : 0};
        parts[gpu] = parts_in({base::MilliGpu{free.compute[gpu]}, memory}, part_);
    }
    return most_tasks(parts, gpus_, tasks);
}

// A gang looks at every node: most ask for whole GPUs, which are counted at once.
int slots_now(const PoolView& view, ShapeId shape, NodeId node, View capacity, int tasks) {
    const cluster::Cluster& cluster = view.cluster;
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    if (!state.is_ready || state.pool != view.pool || !cluster.allows(shape, state.kind)) return 0;
    const model::TaskRequest& request = cluster.shape(shape).request;
    if (request.is_whole()) {
        const int whole = state.free_gpus(capacity);
        int slots = cluster::slots_within(tasks, whole, request.gpus);
        slots = cluster::slots_within(slots, state.cpu.free(capacity), cluster.cpu_on(shape, node));
        slots = cluster::slots_within(slots, state.memory.free(capacity),
                                      cluster.memory_on(shape, node));
        return cluster.resources().fitting(shape, node, capacity, slots);
    }
    if (request.gpus > 0 && cluster.others().is_overfull(node)) return 0;
    const TaskNeed need(view, shape, node);
    FreeCapacity free;
    need.read(capacity, free);
    return need.slots(free, tasks);
}

int slots_when_empty(const PoolView& view, ShapeId shape, NodeId node, int tasks) {
    const TaskNeed need(view, shape, node);
    FreeCapacity free;
    need.read_when_empty(free);
    return need.slots(free, tasks);
}

}  // namespace berth::scheduling
