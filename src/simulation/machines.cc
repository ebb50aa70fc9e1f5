// SPDX-License-Identifier: Apache-2.0
#include "simulation/machines.h"

#include <algorithm>

#include "base/check.h"

namespace berth::simulation {

FreeGpus::FreeGpus(Machines machines, Placement placement)
    : machines_(machines),
      placement_(placement),
      count_(machines.gpus()),
      free_(static_cast<std::size_t>(machines.gpus()), 1),
      free_on_node_(static_cast<std::size_t>(machines.nodes), machines.gpus_per_node) {}

GpuList FreeGpus::take(std::int32_t gpus) {
    GpuList taken;
    if (gpus > count_) return taken;
    taken.reserve(static_cast<std::size_t>(gpus));
    if (placement_ == Placement::Count) {
        for (std::int32_t node = 0; node < machines_.nodes; ++node) {
            const auto free_here = free_on_node_[static_cast<std::size_t>(node)];
            const auto missing = gpus - static_cast<std::int32_t>(taken.size());
            if (missing > 0) take_on(node, std::min(free_here, missing), taken);
        }
        return taken;
    }
    for (std::int32_t left = gpus; left > 0;) {
        const std::int32_t part = std::min(left, machines_.gpus_per_node);
        const std::int32_t node = fullest_node_with(part);
        if (node < 0) {
            give_back(taken);
            return {};
        }
        take_on(node, part, taken);
        left -= part;
    }
    return taken;
}

void FreeGpus::take_on(std::int32_t node, std::int32_t gpus, GpuList& taken) {
    for (std::int32_t gpu = node * machines_.gpus_per_node; gpus > 0; ++gpu) {
        if (!is_free(gpu)) continue;
        set(gpu, false);
        taken.push_back(gpu);
        --gpus;
    }
}

std::int32_t FreeGpus::fullest_node_with(std::int32_t gpus) const {
    std::int32_t best = -1;
    std::int32_t best_free = machines_.gpus_per_node + 1;
    for (std::int32_t node = 0; node < machines_.nodes; ++node) {
        const std::int32_t here = free_on_node_[static_cast<std::size_t>(node)];
        if (here < gpus || here >= best_free) continue;
        best = node;
        best_free = here;
        if (here == gpus) break;
    }
    return best;
}

void FreeGpus::take_these(std::span<const std::int32_t> gpus) {
    for (const std::int32_t gpu : gpus) set(gpu, false);
}

void FreeGpus::give_back(std::span<const std::int32_t> gpus) {
    for (const std::int32_t gpu : gpus) set(gpu, true);
}

void FreeGpus::set(std::int32_t gpu, bool is_free) {
    char& slot = free_[static_cast<std::size_t>(gpu)];
    BERTH_CHECK((slot != 0) != is_free, "a GPU is taken once and given back once");
    slot = is_free ? 1 : 0;
    count_ += is_free ? 1 : -1;
    free_on_node_[static_cast<std::size_t>(gpu / machines_.gpus_per_node)] += is_free ? 1 : -1;
}

}  // namespace berth::simulation
