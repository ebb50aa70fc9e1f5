// SPDX-License-Identifier: Apache-2.0
#include "simulation/replay/machines.h"

#include <algorithm>

#include "base/check.h"

namespace berth::simulation {

Machines::Machines(std::int32_t nodes, std::int32_t gpus_per_node)
    : Machines(std::vector<NodesAlike>{{nodes, gpus_per_node}}) {}

Machines::Machines(std::vector<NodesAlike> models) : models_(std::move(models)) {
    for (const NodesAlike& alike : models_) {
        first_of_.push_back({nodes_, gpus_});
        nodes_ += alike.nodes;
        gpus_ += alike.gpus();
    }
}

Machines::Numbers Machines::gpus_of(std::size_t model) const {
    const std::int32_t first = first_of_[model].gpu;
    return {first, first + models_[model].gpus()};
}

Machines::Numbers Machines::nodes_of(std::size_t model) const {
    const std::int32_t first = first_of_[model].node;
    return {first, first + models_[model].nodes};
}

Machines::Numbers Machines::gpus_on(std::int32_t node) const {
    std::size_t model = models_.size() - 1;
    while (node < first_of_[model].node) --model;
    const std::int32_t size = gpus_per_node(model);
    const std::int32_t first = first_of_[model].gpu + (node - first_of_[model].node) * size;
    return {first, first + size};
}

std::size_t Machines::model_of(std::int32_t gpu) const {
    std::size_t model = models_.size() - 1;
    while (gpu < first_of_[model].gpu) --model;
    return model;
}

std::int32_t Machines::node_of(std::int32_t gpu) const {
    const std::size_t model = model_of(gpu);
    return first_of_[model].node + (gpu - first_of_[model].gpu) / gpus_per_node(model);
}

bool is_spread(std::span<const std::int32_t> gpus, const Machines& machines) {
    std::vector<std::int32_t> nodes;
    for (const std::int32_t gpu : gpus) nodes.push_back(machines.node_of(gpu));
    std::ranges::sort(nodes);
    const auto others = std::ranges::unique(nodes);
    const auto used = std::ssize(nodes) - std::ssize(others);
    const std::int32_t size = machines.gpus_per_node(machines.model_of(gpus.front()));
    return used > (std::ssize(gpus) + size - 1) / size;
}

FreeGpus::FreeGpus(const Machines& machines, Placement placement)
    : machines_(machines),
      placement_(placement),
      count_(machines.gpus()),
      free_(static_cast<std::size_t>(machines.gpus()), 1) {
    for (const NodesAlike& alike : machines.models()) {
        count_of_.push_back(alike.gpus());
        free_on_node_.insert(free_on_node_.end(), static_cast<std::size_t>(alike.nodes),
                             alike.gpus_per_node);
    }
}

GpuList FreeGpus::take(std::int32_t gpus, Stand stand, std::size_t model) {
    if (gpus > count_of(model)) return {};
    if (stand == Stand::Anywhere) return take_anywhere(gpus, model);
    GpuList taken;
    taken.reserve(static_cast<std::size_t>(gpus));
    for (std::int32_t left = gpus; left > 0;) {
        const std::int32_t part = std::min(left, machines_.gpus_per_node(model));
        const std::int32_t node = fullest_node_with(part, model);
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
GpuList FreeGpus::take_anywhere(std::int32_t gpus, std::size_t model) {
    const Machines::Numbers all = machines_.nodes_of(model);
    std::vector<std::int32_t> nodes(all.begin(), all.end());
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
    for (std::int32_t gpu = machines_.gpus_on(node).front(); gpus > 0; ++gpu) {
        if (!is_free(gpu)) continue;
        set(gpu, false);
        taken.push_back(gpu);
        --gpus;
    }
}

std::int32_t FreeGpus::fullest_node_with(std::int32_t gpus, std::size_t model) const {
    std::int32_t best = -1;
    std::int32_t best_free = machines_.gpus_per_node(model) + 1;
    for (const std::int32_t node : machines_.nodes_of(model)) {
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
    const std::int32_t change = is_free ? 1 : -1;
    count_ += change;
    count_of_[machines_.model_of(gpu)] += change;
    free_on_node_[static_cast<std::size_t>(machines_.node_of(gpu))] += change;
}

}  // namespace berth::simulation
