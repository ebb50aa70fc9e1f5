// SPDX-License-Identifier: Apache-2.0
#include "overview/gpu_map.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "lifecycle/charging.h"

namespace berth::overview {
namespace {

using model::GpuUse;

void give(GpuMap& map, std::size_t gpu, const GpuPart& part) {
    GpuPart& known = map.gpus[gpu];
    if (!known.job.is_valid() && part.amount == base::kWholeGpu) {
        known = part;
        return;
    }
    // Two tasks may be on one GPU for a moment, where two schedulers raced.
    if (known.job.is_valid() && known.amount == base::kWholeGpu) {
        map.shared.push_back({gpu, known});
    }
    map.shared.push_back({gpu, part});
    if (!known.job.is_valid() || known.amount < part.amount) known = part;
}

void give_to_jobs(GpuMap& map, const lifecycle::State& state) {
    for (const auto& [id, record] : state.jobs) {
        if (record.tasks.empty()) continue;
        const base::ProjectId project = state.cluster.job(id).project;
        for (const model::TaskPlacement& task : record.tasks) {
            const GpuPart part{id, project, lifecycle::use_of(record, task), task.share};
            for (std::uint64_t left = task.gpu_mask; left != 0; left &= left - 1) {
                const auto index = static_cast<std::size_t>(std::countr_zero(left));
                give(map, map.first[task.node.index()] + index, part);
            }
        }
    }
}

// What no job has of it, and what that is.
GpuPart rest_of(const lifecycle::State& state, base::NodeId node, int gpu, MilliGpu left) {
    const cluster::NodeState& its = state.cluster.nodes()[node.index()];
    const bool is_others = (state.cluster.others().on(node).taken >> gpu & 1) != 0;
    const MilliGpu free = state.cluster.free(cluster::View::Idle, node, gpu);
    GpuPart rest;
    rest.amount = left;
    if (is_others) {
        rest.use = GpuUse::Others;
    } else if (!its.is_ready) {
        rest.use = GpuUse::Unhealthy;
    } else if (free == MilliGpu{0}) {
        rest.use = GpuUse::Reserved;
    } else {
        rest.use = lifecycle::use_of_free(state, its.pool);
        rest.amount = std::min(free, left);
    }
    return rest;
}

void add_free_gpus(GpuMap& map, const lifecycle::State& state) {
    for (std::size_t i = 0; i < map.first.size(); ++i) {
        const base::NodeId node{static_cast<base::NodeId::Rep>(i)};
        for (int gpu = 0; gpu < state.cluster.nodes()[i].gpus; ++gpu) {
            GpuPart& part = map.gpus[map.first[i] + static_cast<std::size_t>(gpu)];
            if (!part.job.is_valid()) part = rest_of(state, node, gpu, base::kWholeGpu);
        }
    }
}

// What jobs leave of the GPUs that they share, behind their parts.
void add_rests(GpuMap& map, const lifecycle::State& state) {
    std::ranges::stable_sort(map.shared, {}, &SharedPart::gpu);
    std::vector<SharedPart> with_rests;
    with_rests.reserve(map.shared.size() * 2);
    for (std::size_t at = 0; at < map.shared.size();) {
        const std::size_t gpu = map.shared[at].gpu;
        MilliGpu left = base::kWholeGpu;
        for (; at < map.shared.size() && map.shared[at].gpu == gpu; ++at) {
            left -= std::min(map.shared[at].part.amount, left);
            with_rests.push_back(map.shared[at]);
        }
        if (left == MilliGpu{0}) continue;
        const auto node = std::ranges::upper_bound(map.first, gpu) - map.first.begin() - 1;
        const auto index = static_cast<int>(gpu - map.first[static_cast<std::size_t>(node)]);
        const base::NodeId id{static_cast<base::NodeId::Rep>(node)};
        with_rests.push_back({gpu, rest_of(state, id, index, left)});
    }
    map.shared = std::move(with_rests);
}

}  // namespace

GpuMap gpu_map_of(const lifecycle::State& state) {
    GpuMap map;
    map.first.reserve(state.cluster.nodes().size());
    std::size_t gpus = 0;
    for (const cluster::NodeState& node : state.cluster.nodes()) {
        map.first.push_back(gpus);
        gpus += node.gpus;
    }
    map.gpus.resize(gpus);
    give_to_jobs(map, state);
    add_free_gpus(map, state);
    add_rests(map, state);
    return map;
}

}  // namespace berth::overview
