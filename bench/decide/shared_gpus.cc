// SPDX-License-Identifier: Apache-2.0
//
// On which shared GPU does a task go that takes different parts of compute and memory? Random tasks
// arrive at as many GPUs as the cluster has nodes and are turned away when none has room. Printed,
// in thousandths: how much of the GPU time that was asked for, larger part by larger part, was
// carried, for each mix of tasks and each rule:
//   one amount     both are charged the larger part, so that nothing else stands beside it
//   least compute  best fit by what is left of the compute
//   least share    best fit by the share of both alike that is left
//   most aligned   the largest product of what is asked and what is left (Tetris)
//   least of both  best fit by the sum of what is left of both: what scheduling/place/place.h does
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "bench/decide/measure.h"
#include "cluster/nodes/gpu_table.h"

namespace berth::bench {
namespace {

using model::GpuPart;

constexpr base::Bytes kMemory{80'000};
constexpr int kArrivals = 6000;
constexpr int kSeeds = 30;

using Mix = std::function<GpuPart(base::Rng&)>;

GpuPart part(std::int64_t compute, std::int64_t memory) {
    return {{compute}, {memory * kMemory.value / 1000}};
}

GpuPart heavy_in_one(base::Rng& dice) {
    switch (dice.between(0, 2)) {
        case 0: return part(100 * dice.between(1, 4), 100 * dice.between(4, 8));
        case 1: return part(100 * dice.between(4, 8), 100 * dice.between(1, 3));
        default: {
            const std::int64_t both = 100 * dice.between(1, 6);
            return part(both, both);
        }
    }
}

GpuPart models_and_training(base::Rng& dice) {
    if (dice.chance(1, 2)) return part(100 * dice.between(1, 3), 125 * dice.between(3, 7));
    return part(100 * dice.between(2, 7), 125 * dice.between(1, 3));
}

GpuPart five_shapes(base::Rng& dice) {
    const std::vector<GpuPart> shapes{part(100, 150), part(200, 750), part(700, 125),
                                      part(500, 500), part(300, 250)};
    return shapes[dice.index(shapes.size())];
}

std::map<std::string, Mix> mixes() {
    return {{"any parts",
             [](base::Rng& dice) { return part(dice.between(50, 900), dice.between(50, 900)); }},
            {"heavy in one", heavy_in_one},
            {"models and training", models_and_training},
            {"five shapes", five_shapes},
            {"whole GPUs as well", [](base::Rng& dice) {
                 return dice.chance(1, 10) ? GpuPart{base::kWholeGpu, kMemory} : heavy_in_one(dice);
             }}};
}

std::int64_t share_of_memory(const GpuPart& of) {
    return model::part_rounded_up(of.memory, kMemory).value;
}
std::int64_t larger(const GpuPart& of) { return std::max(of.compute.value, share_of_memory(of)); }

struct Rule {
    const char* name;
    bool is_one_amount;
    // Of a GPU with so much left for a task that takes such a part: the least is taken.
    std::function<std::int64_t(const GpuPart& left, const GpuPart& part)> rank;
};

std::int64_t compute_left(const GpuPart& left, const GpuPart&) { return left.compute.value; }
std::int64_t share_left(const GpuPart& left, const GpuPart&) {
    return std::min(left.compute.value, share_of_memory(left));
}
std::int64_t misalignment(const GpuPart& left, const GpuPart& part) {
    return -(left.compute.value * part.compute.value +
             share_of_memory(left) * share_of_memory(part));
}
std::int64_t both_left(const GpuPart& left, const GpuPart&) {
    return cluster::both_parts(left, kMemory);
}

const std::vector<Rule>& rules() {
    static const std::vector<Rule> all{{"one amount", true, compute_left},
                                       {"least compute", false, compute_left},
                                       {"least share", false, share_left},
                                       {"most aligned", false, misalignment},
                                       {"least of both", false, both_left}};
    return all;
}

// A shared GPU before an untouched one, as everywhere.
GpuPart* choose(std::vector<GpuPart>& gpus, const GpuPart& part, const Rule& rule) {
    GpuPart* best = nullptr;
    const auto key = [&](const GpuPart& left) {
        return std::pair(left.compute == base::kWholeGpu, rule.rank(left, part));
    };
    for (GpuPart& left : gpus) {
        if (part.fits_in(left) && (best == nullptr || key(left) < key(*best))) best = &left;
    }
    return best;
}

struct Sums {
    double asked = 0;
    double carried = 0;
};

void play(const Mix& mix, const Rule& rule, int gpu_count, base::Rng dice, Sums& sums) {
    std::int64_t load = 0;
    for (int i = 0; i < 1000; ++i) load += larger(mix(dice));
    // A sixth more than would fit if nothing were left over, each counted by its larger part.
    const double mean = 1.15 * gpu_count * 1000 * 1000 / static_cast<double>(load);
    std::vector<GpuPart> gpus(static_cast<std::size_t>(gpu_count),
                              GpuPart{base::kWholeGpu, kMemory});
    std::multimap<double, std::pair<GpuPart*, GpuPart>> running;  // by end
    for (int now = 0; now < kArrivals; ++now) {
        for (; !running.empty() && running.begin()->first <= now; running.erase(running.begin())) {
            GpuPart& left = *running.begin()->second.first;
            left = left + running.begin()->second.second;
        }
        const GpuPart wanted = mix(dice);
        const double time = -mean * std::log(double(dice.between(1, 1'000'000)) / 1'000'001);
        const double work = time * static_cast<double>(larger(wanted));
        GpuPart taken = wanted;
        if (rule.is_one_amount) taken = part(larger(wanted), larger(wanted));
        sums.asked += work;
        GpuPart* const found = choose(gpus, taken, rule);
        if (found == nullptr) continue;
        *found = *found - taken;
        sums.carried += work;
        running.emplace(now + time, std::pair(found, taken));
    }
}

void shared_gpus(Run& run) {
    for (const auto& [name, mix] : mixes()) {
        for (const Rule& rule : rules()) {
            Sums sums;
            for (int seed = 1; seed <= kSeeds; ++seed) {
                play(mix, rule, run.nodes, base::Rng(static_cast<std::uint64_t>(seed)), sums);
            }
            run.print_number(name + ", " + rule.name, "thousandths carried",
                             std::llround(1000 * sums.carried / sums.asked));
        }
    }
}

}  // namespace

void add_shared_gpus(std::map<std::string, Scenario>& scenarios) {
    scenarios["shared-gpus"] = shared_gpus;
}

}  // namespace berth::bench
