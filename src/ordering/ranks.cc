// SPDX-License-Identifier: Apache-2.0
#include "ordering/ranks.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

namespace berth::ordering {
namespace {

constexpr int kStages = Ranks::kStages;
constexpr GpuMs kFirstStage = 600'000;
constexpr GpuMs kTailBegin = GpuMs{8} * 3'600'000;
constexpr std::size_t kRankedWithAnEvent = 16;
// The number of waiting kin before and behind a job that hear how far it has come.
constexpr std::size_t kNearStopped = 8;

// Where they begin, but the first: the root of two more each.
constexpr auto kStageBegins = [] {
    std::array<GpuMs, kStages> begins{};
    GpuMs one = kFirstStage;
    GpuMs other = kFirstStage * 1414 / 1000;
    for (std::size_t at = 0; at < begins.size(); at += 2, one *= 2, other *= 2) {
        begins[at] = one;
        begins[at + 1] = other;
    }
    return begins;
}();

constexpr auto kLevelBegins = [] {
    std::array<GpuMs, 5> begins{};
    GpuMs next = kFirstStage;
    for (GpuMs& begin : begins) begin = std::exchange(next, next * 8);
    return begins;
}();

template <std::size_t kCount>
int stage_of(const std::array<GpuMs, kCount>& begins, GpuMs amount) {
    return static_cast<int>(std::ranges::upper_bound(begins, amount) - begins.begin());
}

bool is_restarting(const JobSnapshot& job) { return job.runs && job.now < job.restarts_until; }

// Jobs whose GPUs differ by less are alike to all that is learned.
std::int64_t width_class(std::int64_t width) {
    const std::int64_t step = width < 1000 ? 125 : 1000;
    return std::max<std::int64_t>((width + step - 1) / step * step, step);
}

}  // namespace

std::vector<ProjectId> Ranks::set_rules(std::span<const RulesOfProject> given) {
    std::vector<ProjectId> changed;
    std::set<ProjectId> reordered;
    for (const auto& [id, rules] : given) {
        Project& own = project(id);
        if (rules == own.rules) continue;
        changed.push_back(id);
        if (rules.by != own.rules.by) reordered.insert(id);
        own.rules = rules;
        own.last_stage = last_stage(rules.tail);
        if (!own.has_guards()) {
            own.waits.reset();
            own.fair.reset();
        }
    }
    if (reordered.empty()) return changed;
    for (auto&& [id, live] : jobs_) {
        if (!reordered.contains(live.project)) continue;
        if (Story* story = stories_.get(id)) story->forget_stages();
        if (project(live.project).is_learned() && experts_.step(live.places) > 0) believe(id, live);
    }
    return changed;
}

const model::OrderRules& Ranks::rules(ProjectId id) const {
    return id.index() < projects_.size() ? projects_[id.index()].rules : kByAge;
}

Ranks::Project& Ranks::project(ProjectId id) {
    if (id.index() >= projects_.size()) projects_.resize(id.index() + 1);
    return projects_[id.index()];
}

void Ranks::submitted(const JobSnapshot& job, ProjectId project, const Likenesses& alike) {
    Crowd& crowd = this->project(project).crowd;
    crowd.ask(0, job.now);
    Live live{.project = project,
              .places = experts_.submitted(job.job, alike, width_class(job.width), job.submitted),
              .asked = job.width,
              .before = crowd.sums()};
    crowd.ask(job.width, job.now);
    jobs_.emplace(job.job, live);
    rank_some();
}

JobSnapshot Ranks::with_restarts(JobSnapshot job, const Live& live) {
    job.restarted = job.restart * live.restarts;
    return job;
}

void Ranks::changed(const JobSnapshot& job) {
    Live* live = jobs_.get(job.job);
    if (live == nullptr) return;
    const bool starts = job.runs && !live->runs;
    if (starts && live->has_run) ++live->restarts;
    live->runs = job.runs;
    live->has_run |= job.runs;
    progress(job, *live);
    Project& own = project(live->project);
    if (!own.has_guards()) return;
    move(own.waits.changed(job, own.crowd.may_have()));
    move(own.fair.changed(job, own.crowd.may_have()));
}

void Ranks::time_came(const JobSnapshot& job) {
    Live* live = jobs_.get(job.job);
    if (live == nullptr) return;
    progress(job, *live);
    Project& own = project(live->project);
    if (!own.has_guards()) return;
    const Crowd::Life life = own.crowd.life(live->before, job.now);
    const JobSnapshot net = with_restarts(job, *live);
    move(own.waits.time_came(net, own.rules.patience, life, own.crowd.may_have()));
    move(own.fair.time_came(net, own.rules.fair, life, own.crowd.may_have()));
}

void Ranks::ended(const JobSnapshot& job) {
    const Live* found = jobs_.get(job.job);
    if (found == nullptr) return;
    const Live live = *found;
    jobs_.erase(job.job);
    if (beliefs_.get(job.job) != nullptr) beliefs_.erase(job.job);
    prove(job, live.project);
    Project& own = project(live.project);
    own.crowd.ask(-live.asked, job.now);
    move(own.waits.ended(job.job, own.crowd.may_have()));
    move(own.fair.ended(job.job, own.crowd.may_have()));
    if (job.used() == 0) return experts_.withdrawn(live.places);
    const bool all_learned = experts_.finished(live.places, size_step(job.used()));
    if (own.is_learned()) tell_kin(live, Hearers::All);
    if (all_learned) learn_anew();
    rank_some();
}

void Ranks::may_have(ProjectId id, std::int64_t gpus, TimePoint now) {
    project(id).crowd.have(std::max<std::int64_t>(gpus, 1), now);
}

// It may have got to another step of its size.
void Ranks::progress(const JobSnapshot& job, Live& live) {
    const std::size_t step = size_step(job.used());
    const std::size_t before = experts_.step(live.places);
    if (step == before) return;
    const bool is_anew = experts_.got_to(live.places, step) || before == 0;
    if (!is_learned(live)) return;
    is_anew || beliefs_.get(job.job) == nullptr ? believe(job.job, live)
                                                : rank_by_belief(job.job, live);
    if (is_anew) tell_kin(live, Hearers::Stopped);
}

void Ranks::tell_kin(const Live& live, Hearers hearers) {
    const std::size_t reach_max = hearers == Hearers::All ? Kin::kNear : kNearStopped;
    for (const JobId other : experts_.concerned(live.places, reach_max)) {
        Live& kin = jobs_.at(other);
        if (hearers == Hearers::Stopped && kin.runs) continue;
        believe(other, kin);
        moved_.push_back(other);
    }
}

void Ranks::believe(JobId job, Live& live) {
    Belief* known = beliefs_.get(job);
    Belief& belief = known == nullptr ? beliefs_.emplace(job, {}) : *known;
    rank_by(experts_.opinion_now(live.places, belief), job, live);
}

void Ranks::rank_by_belief(JobId job, Live& live) {
    rank_by(experts_.opinion(live.places, beliefs_.at(job)), job, live);
}

// And until which step that holds: the next at which the stage is another, or what is believed is
// to follow its kin.
void Ranks::rank_by(Opinion opinion, JobId job, Live& live) {
    const std::size_t step = experts_.step(live.places);
    const auto cost_at = [&](std::size_t at) {
        const auto hazard = [&](std::size_t of) { return opinion.hazard(of); };
        return completion_cost(hazard, at);
    };
    const auto stage_of_cost = [](GpuMs cost) {
        return static_cast<std::int8_t>(stage_of(kStageBegins, cost));
    };
    constexpr std::size_t kEach = Experts::kStepsBelieved;
    const std::size_t anew = std::min((step / kEach + 1) * kEach, kSizeSteps);
    std::size_t next = step + 1;
    const GpuMs cost = cost_at(step);
    live.stage = stage_of_cost(cost);
    while (next < anew && stage_of_cost(cost_at(next)) == live.stage) ++next;
    live.next_step = static_cast<std::uint8_t>(next);
    tell(job, step, cost);
}

void Ranks::learn_anew() {
    find_last_stages();
    // Goes on where it was, when all learn again before all have been ranked.
    const JobId next = to_rank_.empty() ? JobId{} : to_rank_.back();
    to_rank_.clear();
    for (const auto& [id, belief] : beliefs_) {
        if (is_learned(jobs_.at(id))) to_rank_.push_back(id);
    }
    std::ranges::rotate(to_rank_, std::ranges::lower_bound(to_rank_, next));
    std::ranges::reverse(to_rank_);
    if (to_rank_.size() > kAtOnce) return;
    while (!to_rank_.empty()) rank_some();
}

void Ranks::rank_some() {
    for (std::size_t count = 0; count < kRankedWithAnEvent && !to_rank_.empty(); ++count) {
        const JobId job = to_rank_.back();
        to_rank_.pop_back();
        Live* live = jobs_.get(job);
        if (live == nullptr || !is_learned(*live)) continue;
        believe(job, *live);
        moved_.push_back(job);
    }
}

int Ranks::last_stage(int tail) const {
    if (tail == 0) return kStages;
    const GpuMs begin = experts_.all_ends().last_percent_begin(tail);
    return stage_of(kStageBegins, std::max(begin, kTailBegin));
}

void Ranks::find_last_stages() {
    std::map<int, int> found;  // by tail
    for (Project& own : projects_) {
        const auto [at, is_new] = found.try_emplace(own.rules.tail);
        if (is_new) at->second = last_stage(own.rules.tail);
        own.last_stage = at->second;
    }
}

void Ranks::move(const std::vector<JobId>& jobs) {
    moved_.insert(moved_.end(), jobs.begin(), jobs.end());
}

std::vector<JobId> Ranks::take_moved() { return std::exchange(moved_, {}); }

// Of its cost 0 before the first step, as it has been ranked by none.
int Ranks::stage(const JobSnapshot& job, const Live& live) const {
    const Project& own = project(live.project);
    if (!own.has_guards()) return 0;
    if (!own.is_learned()) return stage_of(kLevelBegins, job.used());
    return std::min<int>(live.stage, own.last_stage);
}

Rank Ranks::rank(const JobSnapshot& job) const {
    const Live* live = jobs_.get(job.job);
    if (live == nullptr) return {};
    const Project& own = project(live->project);
    if (!own.has_guards()) return {};
    const auto by_fair_end = own.fair.grant_of(job.job);
    const auto grant = by_fair_end ? by_fair_end : own.waits.grant_of(job.job);
    const Rank due = grant ? Rank::of(0, Rank::Place::Granted, *grant) : kLastRank;
    const int stage = this->stage(job, *live);
    const bool by_age = own.is_learned() && own.rules.tail > 0 && stage == own.last_stage;
    const std::int64_t inside = by_age ? 0 : job.width;
    if (!job.runs) return std::min(due, Rank::of(stage, Rank::Place::Waits, inside));
    const int ahead = own.is_learned() ? own.rules.hysteresis : 0;
    const int counted = stage == 0 ? 0 : std::max(stage - ahead, 1);
    const Rank running = std::min(due, Rank::of(counted, Rank::Place::Runs, inside));
    const Rank restarting = Rank::of(0, Rank::Place::Granted, 0);
    return is_restarting(job) ? std::min(running, restarting) : running;
}

TimePoint Ranks::next_change(const JobSnapshot& job) const {
    const Live* live = jobs_.get(job.job);
    if (live == nullptr) return kNever;
    const Project& own = project(live->project);
    if (!own.has_guards()) return kNever;
    const Crowd::Life life = own.crowd.life(live->before, job.now);
    const JobSnapshot net = with_restarts(job, *live);
    TimePoint next = std::min(own.waits.next_change(net, own.rules.patience, life),
                              own.fair.next_change(net, own.rules.fair, life));
    if (is_restarting(job)) next = std::min(next, job.restarts_until);
    if (!own.is_learned()) {
        const auto level = std::ranges::upper_bound(kLevelBegins, job.used());
        return level == kLevelBegins.end() ? next : std::min(next, job.when_used(*level));
    }
    const std::size_t step = experts_.step(live->places) == 0 ? 1 : live->next_step;
    return step >= kSizeSteps ? next : std::min(next, job.when_used(size_step_begin(step)));
}

model::OrderLedger Ranks::save(const std::vector<std::string>& names) const {
    model::OrderLedger ledger;
    experts_.save(ledger);
    ledger.rules = rules({0});
    ledger.last_stage = projects_.empty() ? kStages : projects_.front().last_stage;
    ledger.to_rank = to_rank_;
    for (const auto& [id, live] : jobs_) {
        model::RankLedger& one = ledger.jobs.emplace_back();
        one.job = id;
        one.width = live.places.front().family.width;
        for (const Kin::Place& place : live.places) {
            one.kin.push_back(place.family.kin);
            one.numbers.push_back(place.number);
        }
        one.asked = live.asked;
        one.asked_before = live.before.asked;
        one.had_before = live.before.may_have;
        one.stage = live.stage;
        one.next_step = live.next_step;
        one.runs = live.runs;
        one.has_run = live.has_run;
        one.restarts = live.restarts;
        save_story(id, one);
        const Belief* belief = beliefs_.get(id);
        if (belief == nullptr) continue;
        for (const Kin::Course course : std::views::join(belief->courses)) {
            one.courses.push_back(course.step | (course.has_ended ? 128 : 0));
        }
        one.weights.assign(belief->weights.begin(), belief->weights.end());
    }
    for (std::size_t at = 0; at < projects_.size(); ++at) {
        if (names.at(at).empty()) continue;
        const Project& own = projects_[at];
        model::CrowdLedger& one = ledger.projects.emplace_back();
        one.project = names.at(at);
        if (own.rules != ledger.rules) one.rules = own.rules;
        if (own.last_stage != ledger.last_stage) one.last_stage = own.last_stage;
        one.asked = own.crowd.asked();
        one.may_have = own.crowd.may_have();
        one.asked_sum = own.crowd.sums().asked;
        one.may_have_sum = own.crowd.sums().may_have;
        one.summed = own.crowd.sums().until;
        one.waits = own.waits.save();
        one.fair = own.fair.save();
        for (const Proofs::Proof& proof : own.proofs.all()) {
            one.estimate.push_back(proof.estimate);
            one.taken.push_back(proof.taken);
        }
    }
    return ledger;
}

namespace {

bool is_sound(const model::SizeLedger& size) {
    return size.width >= 0 && size.ended.size() == kSizeSteps &&
           size.reached.size() == kSizeSteps && size.hazards.size() == kSizeSteps;
}

bool is_sound(const model::FamilyLedger& family) {
    const std::size_t count = family.numbers.size();
    return family.jobs.size() == count && family.submitted.size() == count &&
           family.steps.size() == count && family.states.size() == count &&
           std::ranges::is_sorted(family.numbers) &&
           std::ranges::all_of(
               family.steps, [](int step) { return step >= 0 && std::cmp_less(step, kSizeSteps); });
}

bool is_sound(const model::RankLedger& job) {
    const bool has_belief = job.courses.size() == kLikenesses * Kin::Courses().size();
    return job.kin.size() == kLikenesses && job.numbers.size() == kLikenesses &&
           job.numbers.front() >= 0 &&
           (has_belief ? job.weights.size() == kExperts : job.courses.empty()) && job.stage >= 0 &&
           job.stage <= kStages && job.stages.size() == job.stage_times.size() &&
           job.next_step > 0 && std::cmp_less_equal(job.next_step, kSizeSteps);
}

// Whether it fits together, but for whose jobs they are.
bool is_sound(const model::OrderLedger& ledger) {
    const auto sound = [](const auto& one) { return is_sound(one); };
    const auto has_size = [&](const model::RankLedger& job) {
        return std::ranges::find(ledger.sizes, job.width, &model::SizeLedger::width) !=
               ledger.sizes.end();
    };
    std::map<std::tuple<int, std::uint64_t, std::int64_t>, const model::FamilyLedger*> families;
    for (const model::FamilyLedger& one : ledger.families) {
        families[{one.likeness, one.kin, one.width}] = &one;
    }
    const auto has_places = [&](const model::RankLedger& job) {
        for (std::size_t at = 0; at < kLikenesses; ++at) {
            if (job.numbers[at] < 0) continue;
            const auto found = families.find({static_cast<int>(at), job.kin[at], job.width});
            const bool has_place =
                found != families.end() &&
                std::ranges::binary_search(found->second->numbers, job.numbers[at]);
            if (!has_place) return false;
        }
        return true;
    };
    const auto is_paired = [](const model::CrowdLedger& one) {
        return one.estimate.size() == one.taken.size();
    };
    return ledger.weights.size() == kExperts * Knowledge::kKinds &&
           std::ranges::all_of(ledger.projects, is_paired) &&
           std::ranges::all_of(ledger.sizes, sound) &&
           std::ranges::all_of(ledger.families, sound) && std::ranges::all_of(ledger.jobs, sound) &&
           std::ranges::all_of(ledger.jobs, has_size) &&
           std::ranges::all_of(ledger.jobs, has_places);
}

}  // namespace

bool Ranks::restore(const model::OrderLedger& ledger, const std::vector<std::string>& names) {
    const auto is_known = [&](const model::RankLedger& one) {
        return jobs_.get(one.job) != nullptr;
    };
    if (ledger.jobs.size() != jobs_.size() || !is_sound(ledger) ||
        !std::ranges::all_of(ledger.jobs, is_known)) {
        return false;
    }
    experts_.restore(ledger);
    to_rank_ = ledger.to_rank;
    beliefs_ = {};
    stories_ = {};
    for (const model::RankLedger& one : ledger.jobs) {
        Live& live = jobs_.at(one.job);
        for (std::size_t at = 0; at < kLikenesses; ++at) {
            live.places[at] = {{one.kin[at], one.width}, one.numbers[at]};
        }
        live.asked = one.asked;
        live.before = {one.asked_before, one.had_before, {}};
        live.stage = static_cast<std::int8_t>(one.stage);
        live.next_step = static_cast<std::uint8_t>(one.next_step);
        live.runs = one.runs;
        live.has_run = one.has_run;
        live.restarts = one.restarts;
        restore_story(one);
        if (one.courses.empty()) continue;
        Belief belief;
        for (auto from = one.courses.begin();
             Kin::Course & course : std::views::join(belief.courses)) {
            course.step = static_cast<std::uint8_t>(*from & 127);
            course.has_ended = (*from++ & 128) != 0;
        }
        std::ranges::copy(one.weights, belief.weights.begin());
        beliefs_.emplace(one.job, belief);
    }
    project({0});
    for (Project& own : projects_) {
        own.rules = ledger.rules;
        own.last_stage = ledger.last_stage;
    }
    for (const model::CrowdLedger& one : ledger.projects) {
        const auto at = std::ranges::find(names, one.project);
        if (at == names.end() || one.project.empty()) continue;
        Project& own = project({static_cast<ProjectId::Rep>(at - names.begin())});
        own.rules = one.rules.value_or(ledger.rules);
        own.last_stage = one.last_stage.value_or(ledger.last_stage);
        own.crowd.restore(one.asked, one.may_have, {one.asked_sum, one.may_have_sum, one.summed});
        own.waits.restore(one.waits);
        own.fair.restore(one.fair);
        own.proofs = {};
        for (std::size_t of = 0; of < one.estimate.size(); ++of) {
            own.proofs.add({one.estimate[of], one.taken[of]});
        }
    }
    moved_.clear();
    return true;
}

}  // namespace berth::ordering
