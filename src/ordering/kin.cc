// SPDX-License-Identifier: Apache-2.0
#include "ordering/kin.h"

#include <algorithm>

#include "base/check.h"

namespace berth::ordering {

std::size_t Kin::Members::at(std::int64_t number) const {
    const auto found = std::ranges::lower_bound(siblings, number, {}, &Sibling::number);
    BERTH_CHECK(found != siblings.end() && found->number == number, "who lives is not forgotten");
    return static_cast<std::size_t>(found - siblings.begin());
}

Kin::Place Kin::submitted(JobId job, Family family, TimePoint time) {
    if (!families_.contains(family) && families_.size() >= kFamiliesMax) forget_families();
    Members& members = families_[family];
    const std::int64_t number = members.next_number++;
    if (members.siblings.size() >= members.tidy_at) forget_far(members);
    members.siblings.push_back({job, time, number});
    members.courses.emplace_back();
    ++members.alive;
    return {family, number};
}

void Kin::got_to(const Place& place, std::size_t step) {
    Members& members = families_.at(place.family);
    members.courses[members.at(place.number)].step = static_cast<std::uint8_t>(step & 127);
}

void Kin::ended(const Place& place, std::size_t step) {
    Members& members = families_.at(place.family);
    const std::size_t at = members.at(place.number);
    members.courses[at].step = static_cast<std::uint8_t>(step & 127);
    members.courses[at].has_ended = true;
    leave(members, at);
}

// It stays in its place: what others noted of their kin counts by places. Where there were never
// others, as of a job that was only asked about, nothing stays.
void Kin::withdrawn(const Place& place) {
    Members& members = families_.at(place.family);
    if (members.next_number == 1) return void(families_.erase(place.family));
    const std::size_t at = members.at(place.number);
    members.courses[at] = {};
    leave(members, at);
}

void Kin::leave(Members& members, std::size_t at) {
    members.siblings[at].lives = false;
    --members.alive;
}

std::size_t Kin::step(const Place& place) const {
    const Members& members = this->members(place);
    return members.courses[members.at(place.number)].step;
}

Kin::Near Kin::near(const Place& place) const {
    const Members& members = this->members(place);
    const std::size_t at = members.at(place.number);
    const std::size_t begin = at > kNear ? at - kNear : 0;
    const std::size_t count = std::min(at + kNear + 1, members.siblings.size()) - begin;
    return {.siblings = std::span(members.siblings).subspan(begin, count),
            .courses = std::span(members.courses).subspan(begin, count),
            .self = at - begin};
}

// Forgets jobs that are near no live job, nor near the next one. So near() of no job changes.
void Kin::forget_far(Members& members) {
    const std::size_t count = members.siblings.size();
    std::vector<bool> is_near(count, false);
    const auto mark = [&](std::size_t from, std::size_t to) {
        for (std::size_t at = from; at < std::min(to, count); ++at) is_near[at] = true;
    };
    mark(count - std::min(count, 2 * kNear), count);
    for (std::size_t at = 0; at < count; ++at) {
        if (members.siblings[at].lives) mark(at - std::min(at, kNear), at + kNear + 1);
    }
    std::size_t kept = 0;
    for (std::size_t at = 0; at < count; ++at) {
        if (!is_near[at]) continue;
        members.siblings[kept] = members.siblings[at];
        members.courses[kept++] = members.courses[at];
    }
    members.siblings.resize(kept);
    members.courses.resize(kept);
    members.tidy_at = std::max(8 * kNear, 2 * kept);
}

// An eighth of them, those that have not submitted for longest.
void Kin::forget_families() {
    std::vector<std::pair<TimePoint, Family>> idle;
    for (const auto& [family, members] : families_) {
        if (members.alive == 0) idle.emplace_back(members.siblings.back().submitted, family);
    }
    const std::size_t count = std::min(idle.size(), kFamiliesMax / 8);
    std::ranges::sort(idle);
    for (std::size_t at = 0; at < count; ++at) families_.erase(idle[at].second);
}

void Kin::save(model::OrderLedger& ledger, int likeness) const {
    for (const auto& [family, members] : families_) {
        model::FamilyLedger& one = ledger.families.emplace_back();
        one.likeness = likeness;
        one.kin = family.kin;
        one.width = family.width;
        one.next_number = members.next_number;
        for (std::size_t at = 0; at < members.siblings.size(); ++at) {
            const Sibling& sibling = members.siblings[at];
            const Course course = members.courses[at];
            one.numbers.push_back(sibling.number);
            one.jobs.push_back(sibling.job);
            one.submitted.push_back(sibling.submitted);
            one.steps.push_back(course.step);
            one.states.push_back(sibling.lives ? 0 : course.has_ended ? 1 : 2);
        }
    }
}

void Kin::restore(const model::OrderLedger& ledger, int likeness) {
    families_.clear();
    for (const model::FamilyLedger& one : ledger.families) {
        if (one.likeness != likeness) continue;
        Members& members = families_[{one.kin, one.width}];
        members.next_number = one.next_number;
        for (std::size_t at = 0; at < one.numbers.size(); ++at) {
            const bool lives = one.states[at] == 0;
            members.siblings.push_back({one.jobs[at], one.submitted[at], one.numbers[at], lives});
            members.courses.push_back(
                {static_cast<std::uint8_t>(one.steps[at] & 127), one.states[at] == 1});
            members.alive += lives ? 1 : 0;
        }
    }
}

}  // namespace berth::ordering
