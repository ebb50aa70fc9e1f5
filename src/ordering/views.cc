// SPDX-License-Identifier: Apache-2.0
#include "ordering/views.h"

#include <algorithm>

namespace berth::ordering {
namespace {

// What a sibling counts for that was submitted at the same time.
constexpr std::int64_t kSiblingWeight = 8 * Ends::kJob;
constexpr std::array kReaches = reaches();

// Those of one likeness stand together.
struct ReachRange {
    std::size_t first = 0;
    std::size_t count = 0;
};
constexpr ReachRange reaches_of(Likeness likeness) {
    const auto first = std::ranges::find(kReaches, likeness, &Reach::alike);
    const auto count = std::ranges::count(kReaches, likeness, &Reach::alike);
    return {static_cast<std::size_t>(first - kReaches.begin()), static_cast<std::size_t>(count)};
}

// kSiblingWeight * far / (far + apart), mostly without the division.
std::int32_t weight(std::int64_t far, std::int64_t apart) {
    if (apart == 0) return kSiblingWeight;
    if (far >= (kSiblingWeight - 1) * apart) return kSiblingWeight - 1;
    return static_cast<std::int32_t>(kSiblingWeight * far / (far + apart));
}

}  // namespace

void Knowledge::learn(Likeness likeness, Duration nearest) {
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
    if (likeness == Likeness::User) return learn<Likeness::User>(near, courses);
    if (likeness == Likeness::Name) return learn<Likeness::Name>(near, courses);
    learn<Likeness::Command>(near, courses);
}

template <Likeness kLikeness>
void Views::learn(const Kin::Near& near, std::span<const Kin::Course> courses) {
    constexpr ReachRange kOwn = reaches_of(kLikeness);
    Duration nearest = Duration::max();
    for (std::size_t other = 0; other < near.siblings.size(); ++other) {
        const Kin::Course course = courses[other];
        if (course == Kin::Course{} || other == near.self) continue;
        const Duration apart = near.apart(other);
        nearest = std::min(nearest, apart);
        const std::size_t step = course.step;
        const std::size_t next = std::min(step + 1, kSizeSteps - 1);
        steps_ = std::max(steps_, next + 1);
        for (std::size_t reach = kOwn.first; reach < kOwn.first + kOwn.count; ++reach) {
            const std::int32_t counts = weight(kReaches[reach].far.count(), apart.count());
            if (!course.has_ended) {
                reached_[step][reach] += counts;
                continue;
            }
            // No job's size is met exactly.
            ended_[step][reach] += counts / 2;
            ended_[step > 0 ? step - 1 : 0][reach] += counts / 4;
            ended_[next][reach] += counts / 4;
        }
    }
    knowledge_.learn(kLikeness, nearest);
}

void Views::all_learned() {
    ByReach seen;
    seen.fill(kWidthWeight);
    for (std::size_t step = steps_; step-- > 0;) {
        for (std::size_t reach = 0; reach < seen.size(); ++reach) {
            seen_[step][reach] = seen[reach] += ended_[step][reach];
            seen[reach] += reached_[step][reach];
        }
    }
}

std::array<std::int32_t, kExperts> Views::hazards(std::size_t step) const {
    const std::int32_t general = (*width_)[step];
    std::array<std::int32_t, kExperts> hazards;
    hazards.fill(general);
    hazards[0] = (*all_)[step];
    if (step >= steps_) return hazards;
    for (std::size_t reach = 0; reach < kReaches.size(); ++reach) {
        if (!knowledge_.tells(kReaches[reach].alike)) continue;
        const std::int64_t ends =
            ended_[step][reach] * kSure + std::int64_t{kWidthWeight} * general;
        hazards[kGeneral + reach] = static_cast<std::int32_t>(ends / seen_[step][reach]);
    }
    return hazards;
}

}  // namespace berth::ordering
