// SPDX-License-Identifier: Apache-2.0
#include "ordering/experts.h"

#include <algorithm>

namespace berth::ordering {
namespace {

__extension__ using Wide = __int128;

// Of those who get a quarter further one in ten ends there: sizes fall off with their square root.
constexpr std::int32_t kUnknownEnds = kSure / 10;
// Jobs that what is more general counts for.
constexpr std::int64_t kUnknownWeight = 2 * Ends::kJob;
constexpr std::int64_t kAllWeight = 10 * Ends::kJob;
constexpr std::int64_t kShareDivisor = 100;  // of the weights, dealt out anew at each step
// Counts of up to eight million jobs fit (hazards.h).
constexpr std::int64_t kFadesAfter = 2'000'000;

}  // namespace

Experts::Experts() {
    for (Weights& one : weights_) one.fill(static_cast<std::int32_t>(kSure / kExperts));
    learn();
}

Experts::Seen& Experts::width(std::int64_t width) {
    return widths_.try_emplace(width, Seen{{}, all_.hazards}).first->second;
}

std::array<Ends*, 2> Experts::ends_of(const Kin::Place& place) {
    return {&all_.ends, &width(place.family.width).ends};
}

Kin::Place Experts::submitted(JobId job, Kin::Family family, TimePoint time) {
    const Kin::Place place = kin_.submitted(job, family, time);
    for (Ends* ends : ends_of(place)) ends->reached(0, Ends::kJob);
    return place;
}

bool Experts::got_to(const Kin::Place& place, std::size_t step) {
    const std::size_t before = kin_.step(place);
    if (step == before) return false;
    for (Ends* ends : ends_of(place)) {
        ends->reached(before, -Ends::kJob);
        ends->reached(step, Ends::kJob);
    }
    kin_.got_to(place, step);
    return step / kStepsTold != before / kStepsTold;
}

bool Experts::finished(const Kin::Place& place, std::size_t step) {
    weigh(views_of(place, kin_.near(place).courses), step);
    for (Ends* ends : ends_of(place)) {
        ends->reached(kin_.step(place), -Ends::kJob);
        ends->ended(step, Ends::kJob);
    }
    kin_.ended(place, step);
    if (++finished_ % kFadesAfter == 0) {
        all_.ends.fade();
        for (auto& [width, seen] : widths_) seen.ends.fade();
    }
    if (finished_ < learns_at_) return false;
    learns_at_ = finished_ + std::max<std::int64_t>(finished_ / 10, 10);
    learn();
    return true;
}

void Experts::withdrawn(const Kin::Place& place) {
    for (Ends* ends : ends_of(place)) ends->reached(kin_.step(place), -Ends::kJob);
    kin_.withdrawn(place);
}

void Experts::learn() {
    Hazards unknown;
    unknown.fill(kUnknownEnds);
    all_.hazards = all_.ends.hazards(unknown, kUnknownWeight);
    for (auto& [width, seen] : widths_) seen.hazards = seen.ends.hazards(all_.hazards, kAllWeight);
}

Views Experts::views_of(const Kin::Place& place, std::span<const Kin::Course> courses) const {
    Views views(all_.hazards, widths_.at(place.family.width).hazards);
    views.learn(kin_.near(place), courses);
    return views;
}

Belief Experts::belief(const Kin::Place& place) const {
    Belief belief;
    const Kin::Near near = kin_.near(place);
    std::ranges::copy(near.courses, belief.courses.begin());
    belief.weights = weights_[nearness(near, belief.courses)];
    return belief;
}

Opinion Experts::opinion(const Kin::Place& place, const Belief& belief) const {
    return {views_of(place, belief.courses), belief.weights};
}

// Bayes' rule, and the fixed share.
void Experts::weigh(const Views& views, std::size_t step) {
    // The part of kSure that ends in `step`.
    std::array<std::int64_t, kExperts> chance;
    chance.fill(kSure * kSure);
    for (std::size_t before = 0; before < step; ++before) {
        const auto hazards = views.hazards(before);
        for (std::size_t at = 0; at < kExperts; ++at) {
            chance[at] -= chance[at] / kSure * hazards[at];
        }
    }
    const auto hazards = views.hazards(step);
    Weights& weights = weights_[views.nearness()];
    std::array<Wide, kExperts> right;
    Wide sum = 1;
    for (std::size_t at = 0; at < kExperts; ++at) {
        chance[at] = chance[at] / kSure * hazards[at];
        sum += right[at] = Wide{weights[at]} * chance[at];
    }
    const std::int64_t share = kSure / kShareDivisor;
    for (std::size_t at = 0; at < kExperts; ++at) {
        weights[at] = static_cast<std::int32_t>(right[at] * (kSure - share) / sum) +
                      static_cast<std::int32_t>(share / static_cast<std::int64_t>(kExperts));
    }
}

// Of those who get to a step, each expert's weight is how likely it held that.
void Opinion::mix() {
    const std::size_t step = known_++;
    const auto hazards = views_.hazards(step);
    std::int64_t ends = 0;
    for (std::size_t at = 0; at < kExperts; ++at) ends += part(weights_[at], hazards[at]);
    mixed_[step] = static_cast<std::int32_t>(ends);
    const std::int64_t scale = kSure * kSure / (kSure - ends);
    for (std::size_t at = 0; at < kExperts; ++at) {
        weights_[at] =
            static_cast<std::int32_t>(part(part(weights_[at], kSure - hazards[at]), scale));
    }
}

std::vector<JobId> Experts::concerned(const Kin::Place& place) const {
    const Kin::Near near = kin_.near(place);
    const std::size_t step = near.courses[near.self].step;
    std::vector<JobId> all;
    for (std::size_t other = 0; other < near.courses.size(); ++other) {
        const Kin::Course course = near.courses[other];
        if (other == near.self || !near.siblings[other].lives) continue;
        if (course.step > 0 && course.step <= step + 1) all.push_back(near.siblings[other].job);
    }
    return all;
}

void Experts::save(model::OrderLedger& ledger) const {
    ledger.finished = finished_;
    ledger.learns_at = learns_at_;
    for (const Weights& one : weights_) {
        ledger.weights.insert(ledger.weights.end(), one.begin(), one.end());
    }
    const auto add = [&](std::int64_t width, const Seen& seen) {
        const auto& ended = seen.ends.all_ended();
        const auto& reached = seen.ends.all_reached();
        ledger.sizes.push_back({width,
                                {ended.begin(), ended.end()},
                                {reached.begin(), reached.end()},
                                {seen.hazards.begin(), seen.hazards.end()}});
    };
    add(0, all_);
    for (const auto& [width, seen] : widths_) add(width, seen);
    kin_.save(ledger);
}

void Experts::restore(const model::OrderLedger& ledger) {
    *this = Experts();
    finished_ = ledger.finished;
    learns_at_ = ledger.learns_at;
    for (std::size_t at = 0; at < ledger.weights.size(); ++at) {
        weights_[at / kExperts][at % kExperts] = ledger.weights[at];
    }
    for (const model::SizeLedger& size : ledger.sizes) {
        Seen& seen = size.width == 0 ? all_ : width(size.width);
        seen.ends.restore(size.ended, size.reached);
        std::ranges::copy(size.hazards, seen.hazards.begin());
    }
    kin_.restore(ledger);
}

}  // namespace berth::ordering
