// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/gpu_choice.h"

#include <bit>
#include <optional>
#include <utility>

#include "base/check.h"

namespace berth::cluster {
namespace {

constexpr std::uint64_t bit(int gpu) { return std::uint64_t{1} << gpu; }

// Whether the set has the lower GPUs: the lowest one in which they differ is in it.
bool is_lower(std::uint64_t mask, std::uint64_t other) {
    const std::uint64_t differs = mask ^ other;
    return differs != 0 && (mask & (differs & (~differs + 1))) != 0;
}

// The best set seen so far; of equally good ones the one with the lower GPUs.
struct Best {
    std::optional<std::tuple<int, int, int>> score;
    std::uint64_t mask = 0;

    void consider(const std::tuple<int, int, int>& found, std::uint64_t chosen) {
        if (score && (found < *score || (found == *score && is_lower(mask, chosen)))) return;
        score = found;
        mask = chosen;
    }
};

}  // namespace

GpuChoice::GpuChoice(const model::GpuLinks& links, int gpus) : gpus_(gpus), nics_(links.nics) {
    auto near = model::nearness(links, gpus);
    BERTH_CHECK(near.has_value(), "links were checked before they came here");
    near_ = std::move(*near);
    if (gpus > kTableGpus) return;
    const std::uint64_t all = bit(gpus) - 1;
    table_.resize(entry(all, gpus, Spread::ManyNodes) + 1);
    for (const Spread spread : {Spread::OneNode, Spread::ManyNodes}) {
        for (int count = 1; count <= gpus; ++count) {
            for (std::uint64_t free = 1; free <= all; ++free) {
                if (std::popcount(free) < count) continue;
                table_[entry(free, count, spread)] =
                    static_cast<std::uint8_t>(search(free, count, spread));
            }
        }
    }
}

std::size_t GpuChoice::entry(std::uint64_t free, int count, Spread spread) const {
    const auto of_spread = static_cast<std::size_t>(spread) * static_cast<std::size_t>(gpus_);
    return (of_spread + static_cast<std::size_t>(count - 1)) * (std::size_t{1} << gpus_) + free;
}

std::uint64_t GpuChoice::best(std::uint64_t free, int count, Spread spread) const {
    if (count == std::popcount(free) || count == 0) return count == 0 ? 0 : free;
    return table_.empty() ? grow(free, count, spread) : table_[entry(free, count, spread)];
}

int GpuChoice::nearness_within(std::uint64_t mask) const {
    int sum = 0;
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const int gpu = std::countr_zero(rest);
        for (std::uint64_t other = rest & (rest - 1); other != 0; other &= other - 1) {
            sum += near(gpu, std::countr_zero(other));
        }
    }
    return sum;
}

// How many different network cards stand beside these GPUs.
int GpuChoice::cards(std::uint64_t mask) const {
    if (nics_.empty()) return 0;
    std::uint64_t seen = 0;
    for (; mask != 0; mask &= mask - 1) {
        const int nic = nics_[static_cast<std::size_t>(std::countr_zero(mask))];
        if (nic >= 0) seen |= bit(nic % 64);
    }
    return std::popcount(seen);
}

GpuChoice::Score GpuChoice::score(std::uint64_t chosen, std::uint64_t free, Spread spread) const {
    const int own_cards = cards(chosen);
    return {nearness_within(chosen), spread == Spread::ManyNodes ? own_cards : -own_cards,
            nearness_within(free & ~chosen)};
}

std::uint64_t GpuChoice::search(std::uint64_t free, int count, Spread spread) const {
    Best best;
    for (std::uint64_t chosen = free; chosen != 0; chosen = (chosen - 1) & free) {
        if (std::popcount(chosen) == count) best.consider(score(chosen, free, spread), chosen);
    }
    return best.mask;
}

// The lowest of the GPUs in `from` that are nearest to those in `to`.
int GpuChoice::nearest(std::uint64_t from, std::uint64_t to) const {
    int nearest = -1;
    int nearest_sum = -1;
    for (; from != 0; from &= from - 1) {
        const int gpu = std::countr_zero(from);
        int sum = 0;
        for (std::uint64_t in = to; in != 0; in &= in - 1) sum += near(gpu, std::countr_zero(in));
        if (sum <= nearest_sum) continue;
        nearest = gpu;
        nearest_sum = sum;
    }
    return nearest;
}

std::uint64_t GpuChoice::grow(std::uint64_t free, int count, Spread spread) const {
    Best best;
    for (std::uint64_t seeds = free; seeds != 0; seeds &= seeds - 1) {
        std::uint64_t chosen = seeds & (~seeds + 1);
        while (std::popcount(chosen) < count) chosen |= bit(nearest(free & ~chosen, chosen));
        best.consider(score(chosen, free, spread), chosen);
    }
    return best.mask;
}

}  // namespace berth::cluster
