// SPDX-License-Identifier: Apache-2.0
#include "simulation/room.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace berth::simulation {

Room::Room(Machines machines)
    : machines_(machines),
      turns_(static_cast<std::size_t>(machines.gpus()), kIdle),
      open_(static_cast<std::size_t>(machines.nodes), machines.gpus_per_node) {}

std::span<std::int32_t> Room::node(std::int32_t number) {
    const auto size = static_cast<std::size_t>(machines_.gpus_per_node);
    return std::span(turns_).subspan(static_cast<std::size_t>(number) * size, size);
}

void Room::mark(std::span<const std::int32_t> gpus, std::int32_t turn) {
    for (const std::int32_t gpu : gpus) turns_[static_cast<std::size_t>(gpu)] = turn;
}

void Room::vacate(std::span<const std::int32_t> gpus) {
    for (const std::int32_t gpu : gpus) {
        std::int32_t& turn = turns_[static_cast<std::size_t>(gpu)];
        if (turn != kTaken) turn = kIdle;
    }
}

void Room::take(std::span<const std::int32_t> gpus) {
    mark(gpus, kTaken);
    for (const std::int32_t gpu : gpus) {
        --open_[static_cast<std::size_t>(gpu / machines_.gpus_per_node)];
    }
}

bool Room::keep(std::span<const std::int32_t> gpus) {
    const auto is_taken = [&](std::int32_t gpu) {
        return turns_[static_cast<std::size_t>(gpu)] == kTaken;
    };
    if (std::ranges::any_of(gpus, is_taken)) return false;
    take(gpus);
    return true;
}

GpuList Room::take(std::int32_t gpus, Stand stand) {
    return stand == Stand::Together ? take_together(gpus) : take_anywhere(gpus);
}

// Of nodes where equally good GPUs are, first those with the fewest.
GpuList Room::take_anywhere(std::int32_t gpus) {
    struct Choice {
        std::int32_t turn, open_here, gpu;
        auto operator<=>(const Choice&) const = default;
    };
    std::vector<Choice> open;
    for (std::int32_t gpu = 0; gpu < machines_.gpus(); ++gpu) {
        const std::int32_t turn = turns_[static_cast<std::size_t>(gpu)];
        if (turn == kTaken) continue;
        open.push_back({-turn, open_on(gpu / machines_.gpus_per_node), gpu});
    }
    if (std::ssize(open) < gpus) return {};
    std::ranges::partial_sort(open, open.begin() + gpus);
    GpuList taken;
    for (std::int32_t at = 0; at < gpus; ++at) {
        taken.push_back(open[static_cast<std::size_t>(at)].gpu);
    }
    take(taken);
    return taken;
}

GpuList Room::take_together(std::int32_t gpus) {
    const std::int32_t whole = gpus / machines_.gpus_per_node;
    const std::int32_t rest = gpus % machines_.gpus_per_node;
    const auto nodes_with = [&](std::int32_t least) {
        return std::ranges::count_if(open_, [&](std::int32_t open) { return open >= least; });
    };
    if (nodes_with(machines_.gpus_per_node) < whole) return {};
    if (rest > 0 && nodes_with(rest) <= whole) return {};
    GpuList taken;
    for (std::int32_t part = 0; part < whole; ++part)
        take_on_a_node(machines_.gpus_per_node, taken);
    if (rest > 0) take_on_a_node(rest, taken);
    return taken;
}

void Room::take_on_a_node(std::int32_t gpus, GpuList& taken) {
    std::int32_t best = -1;
    std::int32_t best_turn = kTaken;  // of the first that would have to go: later is better
    std::ptrdiff_t best_idle = 0;
    std::vector<std::int32_t> turns;
    for (std::int32_t number = 0; number < machines_.nodes; ++number) {
        if (open_on(number) < gpus) continue;
        const auto here = node(number);
        turns.assign(here.begin(), here.end());
        const auto first_to_go = turns.begin() + (gpus - 1);
        std::ranges::nth_element(turns, first_to_go, std::greater());
        const std::ptrdiff_t idle = std::ranges::count(here, kIdle);
        if (*first_to_go > best_turn || (*first_to_go == best_turn && idle < best_idle)) {
            best = number;
            best_turn = *first_to_go;
            best_idle = idle;
        }
    }
    GpuList chosen(static_cast<std::size_t>(machines_.gpus_per_node));
    std::iota(chosen.begin(), chosen.end(), best * machines_.gpus_per_node);
    const auto turn = [&](std::int32_t gpu) { return turns_[static_cast<std::size_t>(gpu)]; };
    std::ranges::stable_sort(chosen, std::greater(), turn);
    chosen.resize(static_cast<std::size_t>(gpus));
    take(chosen);
    taken.insert(taken.end(), chosen.begin(), chosen.end());
}

}  // namespace berth::simulation
