// SPDX-License-Identifier: Apache-2.0
#include "ordering/kin.h"

#include <algorithm>

namespace berth::ordering {

void Kin::submitted(const Standing& job) {
    Family& family = families_[{job.kin, job.gpus}];
    const auto number = static_cast<std::size_t>(job.job);
    places_.resize(std::max(places_.size(), number + 1));
    places_[number] = {&family, family.size()};
    family.push_back({.job = job.job, .submitted = job.submitted});
}

Kin::Sibling& Kin::of(Ticket job) {
    const Place& place = places_[static_cast<std::size_t>(job)];
    return (*place.family)[place.at];
}

const Kin::Sibling& Kin::of(Ticket job) const {
    const Place& place = places_[static_cast<std::size_t>(job)];
    return (*place.family)[place.at];
}

std::vector<Kin::Near> Kin::near(Ticket job) const {
    const auto& [family, at] = places_[static_cast<std::size_t>(job)];
    const std::size_t begin = at > kNear ? at - kNear : 0;
    const std::size_t end = std::min(at + kNear + 1, family->size());
    std::vector<Near> all;
    all.reserve(end - begin);
    for (std::size_t other = begin; other < end; ++other) {
        const Sibling& sibling = (*family)[other];
        const Duration later = sibling.submitted - (*family)[at].submitted;
        if (other != at) all.push_back({&sibling, std::max(later, -later)});
    }
    return all;
}

}  // namespace berth::ordering
