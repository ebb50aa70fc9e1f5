// SPDX-License-Identifier: Apache-2.0
#include "ordering/experts.h"

#include <algorithm>

namespace berth::ordering {
namespace {

__extension__ using Wide = __int128;

// Of those who get a quarter further one in ten ends there: sizes fall off with their square root.
constexpr std::int32_t kUnknown = kSure / 10;
// Jobs that what is more general counts for.
constexpr std::int64_t kUnknownWeight = 2 * Ends::kJob;
constexpr std::int64_t kAllWeight = 10 * Ends::kJob;
constexpr std::int64_t kWidthWeight = Ends::kJob;
// What a sibling counts for that was submitted at the same time.
constexpr std::int64_t kSiblingWeight = 8 * Ends::kJob;
constexpr Duration kFar[] = {std::chrono::minutes(2), std::chrono::hours(1), std::chrono::hours(24),
                             std::chrono::hours(24) * 365 * 100};
constexpr std::int64_t kShareDivisor = 100;  // of the weights, dealt out anew at each step

// The part of kSure that ends in `step`.
std::int64_t chance(const Hazards& hazards, std::size_t step) {
    std::int64_t alive = kSure * kSure;
    for (std::size_t before = 0; before < step; ++before) alive -= alive / kSure * hazards[before];
    return alive / kSure * hazards[step];
}

}  // namespace

Experts::Experts() {
    for (Weights& one : weights_) one.fill(kSure / static_cast<std::int64_t>(kExperts));
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
    Kin::Sibling& own = kin_.of(job.job);
    const std::size_t step = size_step(job.attained());
    if (step == own.step) return false;
    const bool is_told = step / kStepsTold != own.step / kStepsTold;
    for (Ends* ends : {&all_.ends, &width(job.gpus).ends}) {
        ends->reached(own.step, -Ends::kJob);
        ends->reached(step, Ends::kJob);
    }
    own.step = step;
    return is_told;
}

bool Experts::finished(const Standing& job) {
    const std::size_t step = size_step(job.attained());
    weigh(opinions(job.job), step);
    Kin::Sibling& own = kin_.of(job.job);
    for (Ends* ends : {&all_.ends, &width(job.gpus).ends}) {
        ends->reached(own.step, -Ends::kJob);
        ends->ended(step, Ends::kJob);
    }
    own.step = step;
    own.has_ended = true;
    if (++finished_ < next_learning_) return false;
    next_learning_ = finished_ + std::max<std::int64_t>(finished_ / 10, 10);
    learn();
    return true;
}

void Experts::learn() {
    Hazards unknown;
    unknown.fill(kUnknown);
    all_.hazards = all_.ends.hazards(unknown, kUnknownWeight);
    for (auto& [gpus, seen] : widths_) seen.hazards = seen.ends.hazards(all_.hazards, kAllWeight);
}

Experts::Opinions Experts::opinions(Ticket job) const {
    const Hazards& general = widths_.at(widths_of_[static_cast<std::size_t>(job)]).hazards;
    Opinions opinions{.of = {all_.hazards, general}, .nearness = kReaches};
    std::array<Ends, kReaches> ends;
    for (const auto& [sibling, apart] : kin_.near(job)) {
        if (!sibling->has_ended && sibling->step == 0) continue;
        for (std::size_t reach = 0; reach < kReaches; ++reach) {
            if (apart <= kFar[reach]) opinions.nearness = std::min(opinions.nearness, reach);
            const std::int64_t weight = apart == Duration{} ? kSiblingWeight
                                                            : kSiblingWeight * kFar[reach].count() /
                                                                  (kFar[reach] + apart).count();
            if (!sibling->has_ended) {
                ends[reach].reached(sibling->step, weight);
                continue;
            }
            // Nobody's size is met exactly.
            const std::size_t step = sibling->step;
            ends[reach].ended(step, weight / 2);
            ends[reach].ended(step > 0 ? step - 1 : 0, weight / 4);
            ends[reach].ended(std::min(step + 1, kSizeSteps - 1), weight / 4);
        }
    }
    for (std::size_t reach = 0; reach < kReaches; ++reach) {
        opinions.of[2 + reach] = ends[reach].hazards(general, kWidthWeight);
    }
    return opinions;
}

// Bayes' rule, and the fixed share.
void Experts::weigh(const Opinions& opinions, std::size_t step) {
    Weights& weights = weights_[opinions.nearness];
    std::array<Wide, kExperts> right;
    Wide sum = 1;
    for (std::size_t at = 0; at < kExperts; ++at) {
        sum += right[at] = Wide{weights[at]} * chance(opinions.of[at], step);
    }
    const std::int64_t share = kSure / kShareDivisor;
    for (std::size_t at = 0; at < kExperts; ++at) {
        weights[at] = static_cast<std::int64_t>(right[at] * (kSure - share) / sum) +
                      share / static_cast<std::int64_t>(kExperts);
    }
}

Opinion Experts::opinion(Ticket job) const {
    const Opinions all = opinions(job);
    return {all.of, weights_[all.nearness]};
}

// Of those who get to a step, each expert's weight is how likely it held that.
void Opinion::mix() {
    const std::size_t step = known_++;
    std::int64_t ends = 0;
    for (std::size_t at = 0; at < kExperts; ++at) ends += part(weights_[at], of_[at][step]);
    mixed_[step] = static_cast<std::int32_t>(ends);
    const std::int64_t scale = kSure * kSure / (kSure - ends);
    for (std::size_t at = 0; at < kExperts; ++at) {
        weights_[at] = part(part(weights_[at], kSure - of_[at][step]), scale);
    }
}

std::vector<Ticket> Experts::concerned(Ticket job) const {
    const std::size_t step = kin_.of(job).step;
    std::vector<Ticket> all;
    for (const auto& [sibling, apart] : kin_.near(job)) {
        if (!sibling->has_ended && sibling->step > 0 && sibling->step <= step + 1)
            all.push_back(sibling->job);
    }
    return all;
}

}  // namespace berth::ordering
