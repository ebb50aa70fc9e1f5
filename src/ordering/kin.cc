// SPDX-License-Identifier: Apache-2.0
#include "ordering/kin.h"

#include <algorithm>

namespace berth::ordering {
namespace {

constexpr std::size_t kNear = 16;
constexpr std::size_t kWitnesses = 3;
constexpr Duration kBoundReach = std::chrono::hours(1);

std::size_t nearness_of(Duration apart) {
    if (apart <= std::chrono::minutes(2)) return 0;
    if (apart <= std::chrono::hours(1)) return 1;
    if (apart <= std::chrono::hours(24)) return 2;
    return 3;
}

}  // namespace

void Kin::submitted(const Standing& job) {
    Family& family = families_[{job.kin, job.gpus}];
    const auto number = static_cast<std::size_t>(job.job);
    places_.resize(std::max(places_.size(), number + 1));
    places_[number] = {&family, family.size()};
    family.push_back({job.job, job.submitted});
}

void Kin::used(const Standing& job) { own(job.job).used = job.attained(); }

void Kin::finished(const Standing& job) {
    own(job.job).used = std::max<GpuMs>(job.attained(), 1);
    own(job.job).is_finished = true;
}

Kin::Member& Kin::own(Ticket job) {
    const Place& place = places_[static_cast<std::size_t>(job)];
    return (*place.family)[place.at];
}

std::vector<Kin::Neighbour> Kin::near(Ticket job) const {
    const auto& [family, at] = places_[static_cast<std::size_t>(job)];
    std::vector<Neighbour> all;
    const std::size_t end = std::min(at + kNear + 1, family->size());
    for (std::size_t other = at > kNear ? at - kNear : 0; other < end; ++other) {
        const Member& member = (*family)[other];
        const Duration later = member.submitted - (*family)[at].submitted;
        if (other != at) all.push_back({&member, std::max(later, -later)});
    }
    return all;
}

std::vector<Ticket> Kin::unfinished_near(Ticket job) const {
    std::vector<Ticket> all;
    for (const Neighbour& one : near(job)) {
        if (!one.member->is_finished) all.push_back(one.member->job);
    }
    return all;
}

std::optional<Guess> Kin::guess(Ticket job) const {
    std::vector<Neighbour> witnesses = near(job);
    std::erase_if(witnesses, [](const Neighbour& one) { return !one.member->is_finished; });
    if (witnesses.empty()) return std::nullopt;
    std::ranges::stable_sort(witnesses, {}, &Neighbour::apart);
    const std::size_t nearness = nearness_of(witnesses.front().apart);
    std::vector<GpuMs> sizes;
    for (const Neighbour& one : witnesses) {
        if (sizes.size() == kWitnesses || nearness_of(one.apart) > nearness) break;
        sizes.push_back(one.member->used);
    }
    std::ranges::sort(sizes);
    return Guess{sizes[sizes.size() / 2], nearness};
}

GpuMs Kin::bound(Ticket job) const {
    std::vector<GpuMs> used;
    for (const Neighbour& one : near(job)) {
        if (one.apart <= kBoundReach) used.push_back(one.member->used);
    }
    if (used.empty()) return 0;
    std::ranges::sort(used);
    return used[used.size() * 3 / 4];
}

}  // namespace berth::ordering
