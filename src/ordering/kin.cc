// SPDX-License-Identifier: Apache-2.0
#include "ordering/kin.h"

#include <algorithm>

namespace berth::ordering {

void Kin::submitted(const Standing& job) {
    Family& family = families_[{job.kin, job.gpus}];
    const auto number = static_cast<std::size_t>(job.job);
    places_.resize(std::max(places_.size(), number + 1));
    places_[number] = {&family, family.siblings.size()};
    family.siblings.push_back({job.job, job.submitted});
    family.courses.emplace_back();
}

Kin::Course& Kin::of(Ticket job) { return place(job).family->courses[place(job).at]; }

Kin::Course Kin::of(Ticket job) const { return place(job).family->courses[place(job).at]; }

Kin::Near Kin::near(Ticket job) const {
    const auto& [family, at] = place(job);
    const std::size_t begin = at > kNear ? at - kNear : 0;
    const std::size_t count = std::min(at + kNear + 1, family->siblings.size()) - begin;
    return {.siblings = std::span(family->siblings).subspan(begin, count),
            .courses = std::span(family->courses).subspan(begin, count),
            .self = at - begin};
}

}  // namespace berth::ordering
