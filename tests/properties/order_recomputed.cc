// SPDX-License-Identifier: Apache-2.0
#include "order_recomputed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace berth::proof {
namespace {

constexpr std::size_t kSteps = 86;
constexpr std::size_t kExperts = 10;
constexpr std::size_t kLikenesses = 3;
constexpr double kAll = 1 << 30;
constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kDay = 24 * 60 * kMinute;

// Whom each expert but the first two goes by, and what is far for it.
struct Expert {
    std::size_t likeness;
    std::int64_t far_ms;
};
constexpr Expert kByKin[] = {{0, 2 * kMinute}, {0, 60 * kMinute},  {0, kDay}, {0, 36'500 * kDay},
                             {1, kDay},        {1, 36'500 * kDay}, {2, kDay}, {2, 36'500 * kDay}};

std::array<std::int64_t, kSteps + 1> step_begins() {
    std::array<std::int64_t, kSteps + 1> begins{};
    std::int64_t next = kMinute;
    for (std::size_t step = 1; step <= kSteps; ++step, next += next / 4) begins[step] = next;
    return begins;
}

struct Sibling {
    std::int64_t apart_ms = 0;
    int step = 0;
    bool has_ended = false;
};

const model::SizeLedger& size_of(const model::OrderLedger& ledger, std::int64_t width) {
    return *std::ranges::find(ledger.sizes, width, &model::SizeLedger::width);
}

// The job's own place in a family; none where it is like no other.
struct Place {
    const model::FamilyLedger* family = nullptr;
    std::size_t at = 0;
};
Place place_of(const model::OrderLedger& ledger, const model::RankLedger& job,
               std::size_t likeness) {
    if (job.numbers[likeness] < 0) return {};
    for (const model::FamilyLedger& family : ledger.families) {
        const bool is_it = family.likeness == static_cast<int>(likeness) &&
                           family.kin == job.kin[likeness] && family.width == job.width;
        if (!is_it) continue;
        const auto own = std::ranges::find(family.numbers, job.numbers[likeness]);
        return {&family, static_cast<std::size_t>(own - family.numbers.begin())};
    }
    return {};
}

// The jobs near it that tell something: as noted when it was ranked, else as they are.
std::vector<Sibling> siblings(const model::OrderLedger& ledger, const model::RankLedger& job,
                              std::size_t likeness) {
    constexpr std::size_t kNear = 32;
    const Place place = place_of(ledger, job, likeness);
    std::vector<Sibling> found;
    if (place.family == nullptr) return found;
    const model::FamilyLedger& family = *place.family;
    const std::size_t begin = place.at > kNear ? place.at - kNear : 0;
    const std::size_t end = std::min(place.at + kNear + 1, family.numbers.size());
    for (std::size_t at = begin; at < end; ++at) {
        Sibling one;
        one.apart_ms = std::abs((family.submitted[at] - family.submitted[place.at]).count());
        one.step = family.steps[at];
        one.has_ended = family.states[at] == 1;
        if (!job.courses.empty()) {
            const int course = job.courses[likeness * (2 * kNear + 1) + at - begin];
            one.step = course & 127;
            one.has_ended = (course & 128) != 0;
        }
        const bool tells = at != place.at && (one.step > 0 || one.has_ended);
        if (tells) found.push_back(one);
    }
    return found;
}

// By step, what one expert has seen of kin: parts of jobs.
struct Seen {
    std::array<double, kSteps> ended{}, reached{};
};

Seen seen_by(const Expert& expert, const std::vector<Sibling>& kin) {
    Seen seen;
    for (const Sibling& one : kin) {
        const auto far = static_cast<double>(expert.far_ms);
        const double weight = 8 * far / (far + static_cast<double>(one.apart_ms));
        const auto step = static_cast<std::size_t>(one.step);
        if (!one.has_ended) {
            seen.reached[step] += weight;
            continue;
        }
        seen.ended[step] += weight / 2;
        seen.ended[step > 0 ? step - 1 : 0] += weight / 4;
        seen.ended[std::min(step + 1, kSteps - 1)] += weight / 4;
    }
    return seen;
}

using Hazards = std::array<double, kSteps>;

Hazards hazards_of(const Seen& seen, const Hazards& width) {
    Hazards hazards{};
    double passed = 1;  // jobs; the width counts like one
    for (std::size_t step = kSteps; step-- > 0; passed += seen.reached[step]) {
        passed += seen.ended[step];
        hazards[step] = (seen.ended[step] + width[step]) / passed;
    }
    return hazards;
}

Hazards learned(const model::SizeLedger& size) {
    Hazards hazards{};
    for (std::size_t step = 0; step < kSteps; ++step) hazards[step] = size.hazards[step] / kAll;
    return hazards;
}

// Which weights count: by how near its nearest kin are, and by what else tells something.
std::size_t kind_of(const std::array<std::vector<Sibling>, kLikenesses>& kin) {
    std::size_t nearness = 4;
    for (const Sibling& one : kin[0]) {
        std::size_t reach = 0;
        while (kByKin[reach].far_ms < one.apart_ms) ++reach;
        nearness = std::min(nearness, reach);
    }
    return nearness + (kin[1].empty() ? 0 : 5) + (kin[2].empty() ? 0 : 10);
}

// GPU time for a completion, of those who have got to a step: the best horizon of all.
double least_cost(const Hazards& hazards, std::size_t from) {
    const auto begins = step_begins();
    const auto used = static_cast<double>(begins[from]);
    double alive = 1, ended = 0, spent = 0, least = static_cast<double>(begins[kSteps]);
    for (std::size_t step = from; step < kSteps; ++step) {
        const auto begin = static_cast<double>(begins[step]);
        const auto end = static_cast<double>(begins[step + 1]);
        const double ends = alive * hazards[step];
        ended += ends;
        alive -= ends;
        spent += ends * ((begin + end) / 2 - used);
        if (ended > 0) least = std::min(least, (spent + alive * (end - used)) / ended);
    }
    return least;
}

}  // namespace

const model::RankLedger* find_rank(const model::OrderLedger& ledger, model::JobId job) {
    const auto found = std::ranges::find(ledger.jobs, job, &model::RankLedger::job);
    return found == ledger.jobs.end() ? nullptr : &*found;
}

RecomputedOrder recompute(const model::OrderLedger& ledger, const model::RankLedger& job) {
    RecomputedOrder result;
    result.has_belief = !job.courses.empty();
    std::array<std::vector<Sibling>, kLikenesses> kin;
    for (std::size_t likeness = 0; likeness < kLikenesses; ++likeness) {
        kin[likeness] = siblings(ledger, job, likeness);
        result.apart.emplace_back();
        result.has_ended.emplace_back();
        for (const Sibling& one : kin[likeness]) {
            result.apart.back().emplace_back(model::Duration{one.apart_ms});
            result.has_ended.back().push_back(one.has_ended);
        }
    }
    const model::SizeLedger& width = size_of(ledger, job.width);
    std::array<Hazards, kExperts> views;
    views.fill(learned(width));
    views[0] = learned(size_of(ledger, 0));
    std::array<double, kExperts> weights{};
    const std::size_t kind = kind_of(kin);
    for (std::size_t at = 0; at < kExperts; ++at) {
        weights[at] =
            (result.has_belief ? job.weights[at] : ledger.weights[kind * kExperts + at]) / kAll;
        if (at < 2 || kin[kByKin[at - 2].likeness].empty()) continue;
        const Expert& expert = kByKin[at - 2];
        views[at] = hazards_of(seen_by(expert, kin[expert.likeness]), learned(width));
    }
    const Place own = place_of(ledger, job, 0);
    const auto from = static_cast<std::size_t>(own.family->steps[own.at]);
    Hazards mixed{};
    for (std::size_t step = 0; step < kSteps; ++step) {
        if (step == from) {
            result.believed.assign(5, 0);
            for (std::size_t at = 0; at < kExperts; ++at) {
                const std::size_t likeness = at < 2 ? 0 : kByKin[at - 2].likeness;
                const std::size_t group = at < 2 ? at : kin[likeness].empty() ? 1 : 2 + likeness;
                result.believed[group] += weights[at];
            }
        }
        for (std::size_t at = 0; at < kExperts; ++at) mixed[step] += weights[at] * views[at][step];
        for (std::size_t at = 0; at < kExperts; ++at)
            weights[at] *= (1 - views[at][step]) / (1 - mixed[step]);
    }
    result.cost = least_cost(mixed, from);
    result.learned_of_all = size_of(ledger, 0).learned_from;
    result.learned_of_width = width.learned_from;
    return result;
}

int recomputed_stage(std::int64_t cost_gpu_ms) {
    int stage = 0;
    while (stage < 28) {
        const std::int64_t octave = std::int64_t{1} << (stage / 2);
        const std::int64_t begin = (stage % 2 == 0 ? 600'000 : 848'400) * octave;
        if (cost_gpu_ms < begin) break;
        ++stage;
    }
    return stage;
}

int recomputed_level(std::int64_t used_gpu_ms) {
    int level = 0;
    for (std::int64_t begin = 600'000; level < 5 && used_gpu_ms >= begin; begin *= 8) ++level;
    return level;
}

}  // namespace berth::proof
