// SPDX-License-Identifier: Apache-2.0
#include "ordering/account.h"

#include <algorithm>

#include "ordering/ranks.h"

namespace berth::ordering {

void Story::note_stage(TimePoint time, int stage) {
    if (stage != this->stage()) add({time, stage});
}

void Story::add(const model::StageChange& change) {
    if (count_ == kChanges) {
        std::shift_left(times_.begin(), times_.end(), 1);
        std::shift_left(stages_.begin(), stages_.end(), 1);
        --count_;
    }
    times_[count_] = change.time;
    stages_[count_++] = static_cast<std::int8_t>(change.stage);
}

std::vector<model::StageChange> Story::changes() const {
    std::vector<model::StageChange> changes;
    for (std::size_t at = 0; at < count_; ++at) changes.push_back({times_[at], stages_[at]});
    return changes;
}

void Proofs::add(Proof proof) {
    if (proofs_.size() == kJobs) proofs_.erase(proofs_.begin());
    proofs_.push_back(proof);
}

std::optional<model::Accuracy> Proofs::accuracy() const {
    if (proofs_.empty()) return {};
    std::vector<std::int64_t> parts;
    for (const Proof& proof : proofs_) {
        parts.push_back(proof.estimate * 1000 / std::max<GpuMs>(proof.taken, 1));
    }
    std::ranges::sort(parts);
    // The least that this percentage does not exceed.
    const auto at_most = [&](std::size_t percent) {
        return parts[(parts.size() * percent + 99) / 100 - 1];
    };
    return model::Accuracy{static_cast<int>(parts.size()), at_most(50), at_most(90)};
}

// By a belief: what it will cost from this step on.
void Ranks::tell(JobId job, std::size_t step, GpuMs cost) {
    Story* known = stories_.get(job);
    Story& story = known == nullptr ? stories_.emplace(job, {}) : *known;
    story.cost = cost;
    if (story.estimate == 0) story.estimate = size_step_begin(step) + cost;
}

void Ranks::note_stage(const JobSnapshot& job) {
    const Live* live = jobs_.get(job.job);
    if (live == nullptr) return;
    const int stage = this->stage(job, *live);
    Story* story = stories_.get(job.job);
    if (story == nullptr) {
        if (stage == 0) return;
        story = &stories_.emplace(job.job, {});
    }
    story->note_stage(job.now, stage);
}

void Ranks::prove(const JobSnapshot& job, ProjectId project) {
    const Story* story = stories_.get(job.job);
    if (story == nullptr) return;
    if (story->estimate > 0) this->project(project).proofs.add({story->estimate, job.used()});
    stories_.erase(job.job);
}

std::optional<model::Accuracy> Ranks::accuracy(ProjectId project) const {
    if (project.index() >= projects_.size()) return {};
    return this->project(project).proofs.accuracy();
}

Account Ranks::brief_account(const JobSnapshot& job) const {
    Account account;
    const Live* live = jobs_.get(job.job);
    if (live == nullptr) return account;
    const Project& own = project(live->project);
    account.by = own.rules.by;
    if (!own.has_guards()) return account;
    account.stage = stage(job, *live);
    const bool is_due = own.waits.is_due(job.job) || own.fair.is_due(job.job);
    const bool is_granted = own.waits.grant_of(job.job) || own.fair.grant_of(job.job);
    account.turn = is_granted ? model::Turn::Granted
                   : is_due   ? model::Turn::Due
                              : model::Turn::NotDue;
    const Story* story = stories_.get(job.job);
    account.cost_counts = own.is_learned() && beliefs_.get(job.job) != nullptr;
    if (account.cost_counts && story != nullptr) account.cost = story->cost;
    return account;
}

Account Ranks::account(const JobSnapshot& job) const {
    Account account = brief_account(job);
    const Live* live = jobs_.get(job.job);
    if (live == nullptr) return account;
    const Project& own = project(live->project);
    if (!own.has_guards()) return account;
    if (const Story* story = stories_.get(job.job)) {
        account.changes = story->changes();
    }
    if (account.turn == model::Turn::NotDue && job.waits) {
        const Crowd::Life life = own.crowd.life(live->before, job.now);
        account.due = own.waits.next_change(with_restarts(job, *live), own.rules.patience, life);
    }
    if (own.is_learned()) expect(*live, job.job, account);
    return account;
}

void Ranks::expect(const Live& live, JobId job, Account& account) const {
    const Belief* noted = beliefs_.get(job);
    const Belief belief = noted != nullptr ? *noted : experts_.belief(live.places);
    account.evidence = experts_.evidence(live.places, belief);
    if (account.cost > 0) return;
    Opinion opinion = experts_.opinion(live.places, belief);
    const auto hazard = [&](std::size_t of) { return opinion.hazard(of); };
    account.cost = completion_cost(hazard, experts_.step(live.places));
}

void Ranks::save_story(JobId job, model::RankLedger& ledger) const {
    const Story* story = stories_.get(job);
    if (story == nullptr) return;
    ledger.cost = story->cost;
    ledger.estimate = story->estimate;
    for (const model::StageChange& change : story->changes()) {
        ledger.stage_times.push_back(change.time);
        ledger.stages.push_back(change.stage);
    }
}

void Ranks::restore_story(const model::RankLedger& ledger) {
    if (ledger.cost == 0 && ledger.estimate == 0 && ledger.stages.empty()) return;
    Story& story = stories_.emplace(ledger.job, {});
    story.cost = ledger.cost;
    story.estimate = ledger.estimate;
    for (std::size_t at = 0; at < ledger.stages.size(); ++at) {
        story.add({ledger.stage_times[at], ledger.stages[at]});
    }
}

}  // namespace berth::ordering
