// SPDX-License-Identifier: Apache-2.0
#include "simulation/machines.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace berth::simulation {

bool is_spread(std::span<const std::int32_t> gpus, Machines machines) {
    std::vector<std::int32_t> nodes;
    for (const std::int32_t gpu : gpus) nodes.push_back(gpu / machines.gpus_per_node);
    std::ranges::sort(nodes);
    const auto others = std::ranges::unique(nodes);
    const auto used = std::ssize(nodes) - std::ssize(others);
    return used > (std::ssize(gpus) + machines.gpus_per_node - 1) / machines.gpus_per_node;
}

FreeGpus::FreeGpus(Machines machines, Placement placement)
    : machines_(machines),
      placement_(placement),
      count_(machines.gpus()),
      free_(static_cast<std::size_t>(machines.gpus()), 1),
      free_on_node_(static_cast<std::size_t>(machines.nodes), machines.gpus_per_node) {}

GpuList FreeGpus::take(std::int32_t gpus, Stand stand) {
    if (gpus > count_) return {};
    if (stand == Stand::Anywhere) return take_anywhere(gpus);
    GpuList taken;
    taken.reserve(static_cast<std::size_t>(gpus));
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

// By Count from the first nodes on, else from the fullest: whole nodes stay whole.
GpuList FreeGpus::take_anywhere(std::int32_t gpus) {
    std::vector<std::int32_t> nodes(free_on_node_.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    const auto free_on = [&](std::int32_t node) {
        return free_on_node_[static_cast<std::size_t>(node)];
    };
    if (placement_ != Placement::Count) std::ranges::stable_sort(nodes, {}, free_on);
    GpuList taken;
    taken.reserve(static_cast<std::size_t>(gpus));
    for (const std::int32_t node : nodes) {
        const auto missing = gpus - static_cast<std::int32_t>(taken.size());
        if (missing == 0) break;
        take_on(node, std::min(free_on(node), missing), taken);
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
