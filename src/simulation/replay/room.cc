// SPDX-License-Identifier: Apache-2.0
#include "simulation/replay/room.h"

#include <algorithm>

namespace berth::simulation {
namespace {

constexpr std::int32_t kIdle = -1;  // the turn of a GPU that no job holds; else whose it is

std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

Room::Room(const FreeGpus& free)
    : free_(free), machines_(free.machines()), is_taken_(index(machines_.gpus()), 0) {}

bool Room::is_open(std::span<const std::int32_t> gpus) const {
    return std::ranges::none_of(gpus, [&](std::int32_t gpu) { return is_taken(gpu); });
}

GpuList Room::take(std::int32_t gpus, Stand stand, const Behind& behind, std::size_t model) {
    GpuList chosen;
    if (stand == Stand::Anywhere) {
        chosen = choose_anywhere(gpus, behind, model);
        take(chosen);
        return chosen;
    }
    for (std::int32_t left = gpus; left > 0;) {
        const std::int32_t part = std::min(left, machines_.gpus_per_node(model));
        const GpuList here = choose_on_a_node(part, behind, model);
        if (here.empty()) {
            put_back(chosen);
            return {};
        }
        take(here);
        chosen.insert(chosen.end(), here.begin(), here.end());
        left -= part;
    }
    return chosen;
}

void Room::take(std::span<const std::int32_t> gpus) {
    for (const std::int32_t gpu : gpus) is_taken_[index(gpu)] = 1;
    taken_.insert(taken_.end(), gpus.begin(), gpus.end());
}

void Room::put_back(std::span<const std::int32_t> last_taken) {
    for (const std::int32_t gpu : last_taken) is_taken_[index(gpu)] = 0;
    taken_.resize(taken_.size() - last_taken.size());
}

std::vector<std::int32_t> Room::idle_on_nodes() const {
    const auto free = free_.on_nodes();
    std::vector<std::int32_t> idle(free.begin(), free.end());
    for (const std::int32_t gpu : taken_) {
        if (free_.is_free(gpu)) --idle[index(node_of(gpu))];
    }
    return idle;
}

// Adds one after the other of those behind until a node has room; the part of it that is theirs is
// then as far behind as can be.
GpuList Room::choose_on_a_node(std::int32_t gpus, const Behind& behind, std::size_t model) const {
    const std::vector<std::int32_t> idle = idle_on_nodes();
    std::vector<std::int32_t> open = idle;
    std::vector<Choice> theirs;
    std::int32_t best = -1;
    const auto look_at = [&](std::int32_t node) {
        if (open[index(node)] < gpus) return;
        const auto rank = [&](std::int32_t one) { return std::pair(idle[index(one)], one); };
        if (best < 0 || rank(node) < rank(best)) best = node;
    };
    for (const std::int32_t node : machines_.nodes_of(model)) look_at(node);
    for (std::int32_t turn = 0; best < 0; ++turn) {
        const GpuList* next = behind(index(turn));
        if (!next) return {};
        for (const std::int32_t gpu : *next) {
            if (is_taken(gpu)) continue;
            ++open[index(node_of(gpu))];
            theirs.push_back({turn, gpu});
        }
        for (const std::int32_t gpu : *next) look_at(node_of(gpu));
    }
    std::erase_if(theirs, [&](const Choice& one) { return node_of(one.gpu) != best; });
    for (const std::int32_t gpu : machines_.gpus_on(best)) {
        if (is_idle(gpu)) theirs.push_back({kIdle, gpu});
    }
    std::ranges::sort(theirs);
    GpuList chosen;
    for (std::int32_t at = 0; at < gpus; ++at) chosen.push_back(theirs[index(at)].gpu);
    return chosen;
}

// Of nodes where equally good GPUs are, first those with the fewest.
GpuList Room::choose_anywhere(std::int32_t gpus, const Behind& behind, std::size_t model) const {
    std::vector<std::int32_t> open_here = idle_on_nodes();
    std::vector<Choice> open;
    for (const std::int32_t gpu : machines_.gpus_of(model)) {
        if (is_idle(gpu)) open.push_back({kIdle, gpu});
    }
    const GpuList* next = nullptr;
    for (std::int32_t turn = 0; (next = behind(index(turn))); ++turn) {
        for (const std::int32_t gpu : *next) {
            if (is_taken(gpu)) continue;
            ++open_here[index(node_of(gpu))];
            open.push_back({turn, gpu});
        }
    }
    if (std::ssize(open) < gpus) return {};
    const auto rank = [&](const Choice& one) {
        return std::tuple(one.turn, open_here[index(node_of(one.gpu))], one.gpu);
    };
    std::ranges::partial_sort(open, open.begin() + gpus, {}, rank);
    GpuList chosen;
    for (std::int32_t at = 0; at < gpus; ++at) chosen.push_back(open[index(at)].gpu);
    return chosen;
}

}  // namespace berth::simulation
