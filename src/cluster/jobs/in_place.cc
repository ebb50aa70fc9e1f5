// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/in_place.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace berth::cluster {
namespace {

struct Change {
    GpuPart before;
    GpuPart after;
    int tasks = 0;
};

struct HostChange {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
};

// What each of the tasks could have of what is left beside the job.
GpuPart room_for_each(const GpuPart& left, int tasks) {
    return {MilliGpu{left.compute.value / tasks}, base::Bytes{left.memory.value / tasks}};
}

bool can_carry(const Cluster& cluster, const model::TaskRequest& request, NodeId node) {
    const model::Node& kind = cluster.kinds()[cluster.nodes()[node.index()].kind].example;
    return request.is_whole() || model::part_of(request, kind).has_value();
}

}  // namespace

InPlace in_place(const Cluster& cluster, const Job& job, const model::TaskRequest& request) {
    std::map<std::pair<NodeId, int>, Change> gpus;
    std::map<NodeId, HostChange> hosts;
    for (const PlacedTask& task : job.placed) {
        const TaskPlacement& before = task.place;
        if (job.is_companion(before.task)) continue;
        const TaskPlacement after = task_of(cluster, request, before.node, before.gpu_mask);
        for (std::uint64_t mask = before.gpu_mask; mask != 0; mask &= mask - 1) {
            Change& change = gpus[{before.node, std::countr_zero(mask)}];
            change.before = change.before + before.part();
            change.after = change.after + after.part();
            ++change.tasks;
        }
        HostChange& host = hosts[before.node];
        host.cpu += after.cpu.value - before.cpu.value;
        host.memory += after.memory.value - before.memory.value;
    }
    for (const auto& [place, change] : gpus) {
        const auto& [node, gpu] = place;
        const GpuPart left = cluster.free_part(View::Idle, node, gpu) + change.before;
        const bool grows = !change.after.fits_in(change.before);
        if (can_carry(cluster, request, node) && (!grows || change.after.fits_in(left))) continue;
        return {InPlace::Lacks::Gpu, node, gpu, room_for_each(left, change.tasks)};
    }
    for (const auto& [node, change] : hosts) {
        const NodeState& state = cluster.nodes()[node.index()];
        if (change.cpu > 0 && change.cpu > state.cpu.free(View::Idle))
            return {InPlace::Lacks::Cpu, node, 0, {}};
        if (change.memory > 0 && change.memory > state.memory.free(View::Idle))
            return {InPlace::Lacks::HostMemory, node, 0, {}};
    }
    return {};
}

}  // namespace berth::cluster
