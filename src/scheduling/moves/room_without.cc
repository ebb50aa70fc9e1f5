// SPDX-License-Identifier: Apache-2.0
#include "scheduling/moves/room_without.h"

#include <algorithm>
#include <array>
#include <bit>

#include "cluster/gang.h"

namespace berth::scheduling {
namespace {

using Leaving = std::span<const cluster::Job* const>;

// Whether other resources than CPU and memory are enough.
bool has_resources_without(const cluster::Cluster& cluster, ShapeId shape, NodeId node,
                           Leaving leaving) {
    const cluster::NodeResources& resources = cluster.resources();
    return std::ranges::all_of(resources.asked(shape), [&](const cluster::ResourceAsk& ask) {
        const cluster::HostUse& use = resources.on(node, ask.resource);
        if (use.capacity == cluster::kUnaccounted) return resources.is_pods(ask.resource);
        std::int64_t free = use.free(View::Coming);
        for (const cluster::Job* job : leaving) {
            for (const auto& [place, is_releasing] : job->placed) {
                if (place.node != node) continue;
                const ShapeId asked = cluster::asked_by(cluster, job->shape, place.task);
                free += resources.asked(asked, ask.resource);
            }
        }
        return ask.amount <= free;
    });
}

}  // namespace

bool has_room_without(const PoolView& view, ShapeId shape, NodeId node, Leaving leaving) {
    const cluster::Cluster& cluster = view.cluster;
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    if (!state.is_ready || !cluster.allows(shape, state.kind)) return false;
    const model::GpuPart part = cluster.part_on(shape, node);
    std::array<model::GpuPart, model::kGpusPerNodeMax> free;
    for (int gpu = 0; gpu < state.gpus; ++gpu) {
        // The memory only where it matters: that takes longer to look up.
        free[static_cast<std::size_t>(gpu)] =
            part.memory > base::Bytes{0}
                ? cluster.free_part(View::Coming, node, gpu)
                : model::GpuPart{cluster.compute_left(View::Coming, node, gpu), {}};
    }
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    for (const cluster::Job* job : leaving) {
        for (const cluster::PlacedTask& task : job->placed) {
            if (task.place.node != node) continue;
            cpu += task.place.cpu.value;
            memory += task.place.memory.value;
            for (std::uint64_t mask = task.place.gpu_mask; mask != 0; mask &= mask - 1) {
                model::GpuPart& gpu = free[static_cast<std::size_t>(std::countr_zero(mask))];
                gpu = gpu + task.place.part();
            }
        }
    }
    const auto is_enough = [](const cluster::HostUse& host, std::int64_t extra,
                              std::int64_t wanted) {
        return host.capacity == cluster::kUnaccounted || wanted <= host.free(View::Coming) + extra;
    };
    int owed = cluster.others().on(node).missing();  // whole GPUs, theirs first
    const auto fits = [&](const model::GpuPart& gpu) {
        const bool is_owed = owed > 0 && gpu.compute == base::kWholeGpu;
        owed -= is_owed ? 1 : 0;
        return !is_owed && part.fits_in(gpu);
    };
    const int asked = cluster.shape(shape).request.gpus;
    return std::ranges::count_if(std::span(free).first(state.gpus), fits) >= asked &&
           (owed == 0 || asked == 0) && is_enough(state.cpu, cpu, cluster.cpu_on(shape, node)) &&
           is_enough(state.memory, memory, cluster.memory_on(shape, node)) &&
           has_resources_without(cluster, shape, node, leaving);
}

}  // namespace berth::scheduling
