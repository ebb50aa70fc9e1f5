// SPDX-License-Identifier: Apache-2.0
#include "ordering/views.h"

#include <algorithm>

namespace berth::ordering {
namespace {

// What a sibling counts for that was submitted at the same time.
constexpr std::int64_t kSiblingWeight = 8 * Ends::kJob;
constexpr std::array kReaches = reaches();

// kSiblingWeight * far / (far + apart), mostly without the division.
std::int32_t weight(std::int64_t far, std::int64_t apart) {
    if (apart == 0) return kSiblingWeight;
    if (far >= (kSiblingWeight - 1) * apart) return kSiblingWeight - 1;
    return static_cast<std::int32_t>(kSiblingWeight * far / (far + apart));
}

template <std::size_t kCount>
void add(std::array<std::int32_t, kCount>& sums, const std::array<std::int32_t, kCount>& more) {
    for (std::size_t at = 0; at < kCount; ++at) sums[at] += more[at];
}

template <std::size_t kCount>
std::array<std::int32_t, kCount> divided(std::array<std::int32_t, kCount> weights,
                                         std::int32_t divisor) {
    for (std::int32_t& weight : weights) weight /= divisor;
    return weights;
}

}  // namespace

void Knowledge::learn(Likeness likeness, const Kin::Near& near,
                      std::span<const Kin::Course> courses) {
    Duration nearest = Duration::max();
    for (std::size_t other = 0; other < near.siblings.size(); ++other) {
        if (courses[other] == Kin::Course{} || other == near.self) continue;
        nearest = std::min(nearest, near.apart(other));
    }
    const bool has_kin = nearest < Duration::max();
    if (likeness == Likeness::Name) tells_name_ = has_kin;
    if (likeness == Likeness::Command) tells_command_ = has_kin;
    if (likeness != Likeness::User) return;
    static_assert(kReaches[kNearnesses - 2].alike == Likeness::User);
    static_assert(kReaches[kNearnesses - 1].alike != Likeness::User);
    nearness_ = 0;
    while (nearness_ + 1 < kNearnesses && kReaches[nearness_].far < nearest) ++nearness_;
}

void Views::learn(Likeness likeness, const Kin::Near& near, std::span<const Kin::Course> courses) {
    knowledge_.learn(likeness, near, courses);
    if (!knowledge_.tells(likeness)) return;
    for (std::size_t other = 0; other < near.siblings.size(); ++other) {
        if (courses[other] == Kin::Course{} || other == near.self) continue;
        count(courses[other], weights(likeness, near.apart(other)));
    }
}

void Views::all_learned() {
    ByReach seen;
    seen.fill(kWidthWeight);
    for (std::size_t step = kSizeSteps; step-- > 0; add(seen, reached_[step])) {
        add(seen, ended_[step]);
        seen_[step] = seen;
    }
}

Views::ByReach Views::weights(Likeness likeness, Duration apart) {
    ByReach weights{};
    for (std::size_t reach = 0; reach < kReaches.size(); ++reach) {
        if (kReaches[reach].alike != likeness) continue;
        weights[reach] = weight(kReaches[reach].far.count(), apart.count());
    }
    return weights;
}

void Views::count(Kin::Course course, const ByReach& weights) {
    const std::size_t step = course.step;
    if (!course.has_ended) return add(reached_[step], weights);
    // Nobody's size is met exactly.
    const ByReach quarter = divided(weights, 4);
    add(ended_[step], divided(weights, 2));
    add(ended_[step > 0 ? step - 1 : 0], quarter);
    add(ended_[std::min(step + 1, kSizeSteps - 1)], quarter);
}

std::array<std::int32_t, kExperts> Views::hazards(std::size_t step) const {
    const std::int32_t general = (*width_)[step];
    std::array<std::int32_t, kExperts> hazards;
    hazards.fill(general);
    hazards[0] = (*all_)[step];
    for (std::size_t reach = 0; reach < kReaches.size(); ++reach) {
        if (!knowledge_.tells(kReaches[reach].alike)) continue;
        const std::int64_t ends =
            ended_[step][reach] * kSure + std::int64_t{kWidthWeight} * general;
        hazards[kGeneral + reach] = static_cast<std::int32_t>(ends / seen_[step][reach]);
    }
    return hazards;
}

}  // namespace berth::ordering
