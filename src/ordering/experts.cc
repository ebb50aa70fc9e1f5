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

}  // namespace

Experts::Experts() {
    for (Weights& one : weights_) one.fill(static_cast<std::int32_t>(kSure / kExperts));
    learn();
}

Experts::Seen& Experts::width(std::int32_t gpus) {
    return widths_.try_emplace(gpus, Seen{{}, all_.hazards}).first->second;
}

void Experts::submitted(const Standing& job) {
    kin_.submitted(job);
    const auto number = static_cast<std::size_t>(job.job);
    widths_of_.resize(std::max(widths_of_.size(), number + 1));
    widths_of_[number] = job.gpus;
    for (Ends* ends : {&all_.ends, &width(job.gpus).ends}) ends->reached(0, Ends::kJob);
}

bool Experts::used(const Standing& job) {
    Kin::Course& own = kin_.of(job.job);
    const std::size_t step = size_step(job.attained());
    if (step == own.step) return false;
    const bool is_told = step / kStepsTold != own.step / kStepsTold;
    for (Ends* ends : {&all_.ends, &width(job.gpus).ends}) {
        ends->reached(own.step, -Ends::kJob);
        ends->reached(step, Ends::kJob);
    }
    own.step = static_cast<std::uint8_t>(step);
    return is_told;
}

bool Experts::finished(const Standing& job) {
    const std::size_t step = size_step(job.attained());
    Views views = views_of(job.job);
    views.learn(kin_.near(job.job), kin_.near(job.job).courses);
    weigh(views, step);
    Kin::Course& own = kin_.of(job.job);
    for (Ends* ends : {&all_.ends, &width(job.gpus).ends}) {
        ends->reached(own.step, -Ends::kJob);
        ends->ended(step, Ends::kJob);
    }
    own = {.step = static_cast<std::uint8_t>(step), .has_ended = true};
    if (++finished_ < next_learning_) return false;
    next_learning_ = finished_ + std::max<std::int64_t>(finished_ / 10, 10);
    learn();
    return true;
}

void Experts::learn() {
    Hazards unknown;
    unknown.fill(kUnknownEnds);
    all_.hazards = all_.ends.hazards(unknown, kUnknownWeight);
    for (auto& [gpus, seen] : widths_) seen.hazards = seen.ends.hazards(all_.hazards, kAllWeight);
}

Evidence Experts::evidence(Ticket job) const {
    Evidence evidence{.weights = weights_};
    std::ranges::copy(kin_.near(job).courses, evidence.courses.begin());
    return evidence;
}

Views Experts::views_of(Ticket job) const {
    return {all_.hazards, widths_.at(widths_of_[static_cast<std::size_t>(job)]).hazards};
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

void Opinion::learn(const Kin::Near& near, const Evidence& evidence) {
    views_.learn(near, evidence.courses);
    weights_ = evidence.weights[views_.nearness()];
    known_ = 0;
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

std::vector<Ticket> Experts::concerned(Ticket job) const {
    const Kin::Near near = kin_.near(job);
    const std::size_t step = near.courses[near.self].step;
    std::vector<Ticket> all;
    for (std::size_t other = 0; other < near.courses.size(); ++other) {
        const Kin::Course course = near.courses[other];
        if (other == near.self || course.has_ended) continue;
        if (course.step > 0 && course.step <= step + 1) all.push_back(near.siblings[other].job);
    }
    return all;
}

}  // namespace berth::ordering
