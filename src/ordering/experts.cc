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
// Its kin this many places before or behind a job are ranked anew at once. Those of its user do
// wherever they are near: most often they are one experiment.
constexpr std::size_t kTold[kLikenesses] = {Kin::kNear, 8, 8};

// Of so much that is dealt out evenly to those that have a say.
std::int32_t share_of_one(std::int64_t all, const Knowledge& knowledge) {
    std::int64_t count = 0;
    for (std::size_t at = 0; at < kExperts; ++at) count += knowledge.has_say(at) ? 1 : 0;
    return static_cast<std::int32_t>(all / count);
}

}  // namespace

Experts::Experts() {
    for (std::size_t number = 0; number < Knowledge::kKinds; ++number) {
        const Knowledge knowledge(number);
        for (std::size_t at = 0; at < kExperts; ++at) {
            weights_[number][at] = knowledge.has_say(at) ? share_of_one(kSure, knowledge) : 0;
        }
    }
    learn();
}

template <typename Look>
void Experts::for_each(auto& kin, const Places& places, Look&& look) {
    for (std::size_t at = 0; at < kLikenesses; ++at) {
        if (places[at].is_valid()) look(static_cast<Likeness>(at), kin[at], places[at]);
    }
}

Experts::Seen& Experts::width(std::int64_t width) {
    return widths_.try_emplace(width, Seen{{}, all_.hazards, 0}).first->second;
}

std::array<Ends*, 2> Experts::ends_of(const Places& places) {
    return {&all_.ends, &width(places.front().family.width).ends};
}

Places Experts::submitted(JobId job, const Likenesses& alike, std::int64_t width, TimePoint time) {
    Places places;
    for (std::size_t at = 0; at < kLikenesses; ++at) {
        const bool is_like_none = alike[at] == 0 && static_cast<Likeness>(at) != Likeness::User;
        if (!is_like_none) places[at] = kin_[at].submitted(job, {alike[at], width}, time);
    }
    for (Ends* ends : ends_of(places)) ends->reached(0, Ends::kJob);
    return places;
}

bool Experts::got_to(const Places& places, std::size_t step) {
    const std::size_t before = this->step(places);
    if (step == before) return false;
    for (Ends* ends : ends_of(places)) {
        ends->reached(before, -Ends::kJob);
        ends->reached(step, Ends::kJob);
    }
    for_each(kin_, places,
             [&](Likeness, Kin& kin, const Kin::Place& place) { kin.got_to(place, step); });
    return step / kStepsBelieved != before / kStepsBelieved;
}

bool Experts::finished(const Places& places, std::size_t step) {
    Belief belief;
    Views views(all_.hazards, hazards_of_width(places));
    look_now(places, belief, views);
    weigh(views, step);
    for (Ends* ends : ends_of(places)) {
        ends->reached(this->step(places), -Ends::kJob);
        ends->ended(step, Ends::kJob);
    }
    for_each(kin_, places,
             [&](Likeness, Kin& kin, const Kin::Place& place) { kin.ended(place, step); });
    if (++finished_ % kFadesAfter == 0) {
        all_.ends.fade();
        for (auto& [width, seen] : widths_) seen.ends.fade();
    }
    if (finished_ < learns_at_) return false;
    learns_at_ = finished_ + std::max<std::int64_t>(finished_ / 10, 10);
    learn();
    return true;
}

void Experts::withdrawn(const Places& places) {
    for (Ends* ends : ends_of(places)) ends->reached(step(places), -Ends::kJob);
    for_each(kin_, places,
             [](Likeness, Kin& kin, const Kin::Place& place) { kin.withdrawn(place); });
}

void Experts::learn() {
    Hazards unknown;
    unknown.fill(kUnknownEnds);
    all_.hazards = all_.ends.hazards(unknown, kUnknownWeight);
    all_.learned_from = all_.ends.jobs_ended();
    for (auto& [width, seen] : widths_) {
        seen.hazards = seen.ends.hazards(all_.hazards, kAllWeight);
        seen.learned_from = seen.ends.jobs_ended();
    }
}

const Hazards& Experts::hazards_of_width(const Places& places) const {
    return widths_.at(places.front().family.width).hazards;
}

void Experts::look(const Places& places, const Belief& belief, Views& views) const {
    for_each(kin_, places, [&](Likeness alike, const Kin& kin, const Kin::Place& place) {
        views.learn(alike, kin.near(place), belief.courses[static_cast<std::size_t>(alike)]);
    });
    views.all_learned();
}

void Experts::look_now(const Places& places, Belief& noted, Views& views) const {
    for_each(kin_, places, [&](Likeness alike, const Kin& kin, const Kin::Place& place) {
        const Kin::Near near = kin.near(place);
        Kin::Courses& courses = noted.courses[static_cast<std::size_t>(alike)];
        std::ranges::copy(near.courses, courses.begin());
        views.learn(alike, near, courses);
    });
    views.all_learned();
    noted.weights = weights_[views.knowledge().number()];
}

Belief Experts::belief(const Places& places) const {
    Belief belief;
    Views views(all_.hazards, hazards_of_width(places));
    look_now(places, belief, views);
    return belief;
}

Opinion Experts::opinion(const Places& places, const Belief& belief) const {
    Opinion opinion(all_.hazards, hazards_of_width(places));
    look(places, belief, opinion.views_);
    opinion.weights_ = belief.weights;
    return opinion;
}

Opinion Experts::opinion_now(const Places& places, Belief& noted) const {
    noted = {};
    Opinion opinion(all_.hazards, hazards_of_width(places));
    look_now(places, noted, opinion.views_);
    opinion.weights_ = noted.weights;
    return opinion;
}

model::OrderEvidence Experts::evidence(const Places& places, const Belief& belief) const {
    Opinion opinion = this->opinion(places, belief);
    const Weights weights = opinion.weights(step(places));
    // Those of all, of its width, and of each likeness. Where no kin tells anything an expert says
    // what the width says.
    std::array<std::int64_t, kGeneral + kLikenesses> believed{weights[0], weights[1]};
    for (std::size_t at = kGeneral; at < kExperts; ++at) {
        const Likeness alike = reaches()[at - kGeneral].alike;
        believed[opinion.knowledge().tells(alike) ? kGeneral + static_cast<std::size_t>(alike)
                                                  : 1] += weights[at];
    }
    const auto most =
        static_cast<std::size_t>(std::ranges::max_element(believed) - believed.begin());
    if (most < kGeneral) {
        const Seen& width = widths_.at(places.front().family.width);
        const bool is_of_width = most == 1 && width.learned_from > 0;
        const std::int64_t jobs = is_of_width ? width.learned_from : all_.learned_from;
        const auto of = is_of_width ? model::EvidenceOf::Width : model::EvidenceOf::All;
        return {jobs > 0 ? of : model::EvidenceOf::None, {}, jobs, 0, {}};
    }
    return kin_evidence(places, belief, weights, static_cast<Likeness>(most - kGeneral));
}

// What its most believed expert goes by; the next further one where no kin is within its reach.
model::OrderEvidence Experts::kin_evidence(const Places& places, const Belief& belief,
                                           const Weights& weights, Likeness alike) const {
    const auto likeness = static_cast<std::size_t>(alike);
    const Kin::Near near = kin_[likeness].near(places[likeness]);
    struct Counted {
        std::int64_t jobs = 0;
        std::int64_t unfinished = 0;
    };
    const auto within = [&](Duration far) {
        Counted counted;
        for (std::size_t other = 0; other < near.siblings.size(); ++other) {
            const Kin::Course course = belief.courses[likeness][other];
            const bool tells = other != near.self && course != Kin::Course{};
            if (!tells || near.apart(other) > far) continue;
            ++counted.jobs;
            if (!course.has_ended) ++counted.unfinished;
        }
        return counted;
    };
    std::size_t best = kExperts;
    for (std::size_t at = kGeneral; at < kExperts; ++at) {
        if (reaches()[at - kGeneral].alike != alike) continue;
        if (best == kExperts || weights[at] > weights[best]) best = at;
    }
    Reach reach = reaches()[best - kGeneral];
    while (within(reach.far).jobs == 0) reach = reaches()[++best - kGeneral];
    const Counted counted = within(reach.far);
    constexpr std::array kOf{model::EvidenceOf::User, model::EvidenceOf::Name,
                             model::EvidenceOf::Command};
    const Duration far = reach.far == kAnyTime ? Duration{0} : reach.far;
    return {kOf[likeness], {}, counted.jobs, counted.unfinished, far};
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
    const Knowledge& knowledge = views.knowledge();
    Weights& weights = weights_[knowledge.number()];
    std::array<Wide, kExperts> right;
    Wide sum = 1;
    for (std::size_t at = 0; at < kExperts; ++at) {
        chance[at] = chance[at] / kSure * hazards[at];
        sum += right[at] = Wide{weights[at]} * chance[at];
    }
    const std::int64_t dealt = kSure / kShareDivisor;
    for (std::size_t at = 0; at < kExperts; ++at) {
        if (!knowledge.has_say(at)) continue;
        weights[at] = static_cast<std::int32_t>(right[at] * (kSure - dealt) / sum) +
                      share_of_one(dealt, knowledge);
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

std::vector<JobId> Experts::concerned(const Places& places, std::size_t reach_max) const {
    std::vector<JobId> all;
    for_each(kin_, places, [&](Likeness alike, const Kin& kin, const Kin::Place& place) {
        const Kin::Near near = kin.near(place);
        const std::size_t reach = std::min(kTold[static_cast<std::size_t>(alike)], reach_max);
        const std::size_t end = std::min(near.self + reach + 1, near.courses.size());
        const std::size_t step = near.courses[near.self].step;
        const std::size_t earlier = all.size();  // by another likeness
        for (std::size_t at = near.self - std::min(near.self, reach); at < end; ++at) {
            const Kin::Course course = near.courses[at];
            const bool is_concerned = at != near.self && near.siblings[at].lives &&
                                      course.step > 0 && course.step <= step + 1;
            if (!is_concerned) continue;
            const JobId job = near.siblings[at].job;
            const auto before = all.begin() + static_cast<std::ptrdiff_t>(earlier);
            if (std::find(all.begin(), before, job) == before) all.push_back(job);
        }
    });
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
                                {seen.hazards.begin(), seen.hazards.end()},
                                seen.learned_from});
    };
    add(0, all_);
    for (const auto& [width, seen] : widths_) add(width, seen);
    for (std::size_t at = 0; at < kLikenesses; ++at) {
        kin_[at].save(ledger, static_cast<int>(at));
    }
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
        seen.learned_from = size.learned_from;
    }
    for (std::size_t at = 0; at < kLikenesses; ++at) {
        kin_[at].restore(ledger, static_cast<int>(at));
    }
}

}  // namespace berth::ordering
