// SPDX-License-Identifier: Apache-2.0
#include "ordering/guard.h"

#include <algorithm>

namespace berth::ordering {
namespace {

constexpr Duration kRunMax = std::chrono::hours(1);
constexpr std::int64_t kRunDivisor = 20;

// What differs between the two.
struct Terms {
    Duration credit;  // counts as run by a job that ran less
    Duration run_min;
    std::int64_t share;  // of the GPUs that the project may have, in percent
};
constexpr Terms kTerms[] = {
    {std::chrono::minutes(10), std::chrono::minutes(5), 10},  // by waits
    {std::chrono::seconds(30), std::chrono::minutes(2), 15},  // by fair ends
};
const Terms& terms(Guard::Due due) { return kTerms[static_cast<std::size_t>(due)]; }

}  // namespace

std::optional<std::int64_t> Guard::grant_of(JobId job) const {
    const auto claim = claims_.find(job);
    if (claim == claims_.end() || claim->second.number == 0) return std::nullopt;
    return claim->second.number;
}

// From when on it is due, if it gets no further and its project is as crowded as it was.
TimePoint Guard::due_at(const JobSnapshot& job, std::int64_t patience,
                        const Crowd::Life& life) const {
    const Duration ran = std::max(job.ran(), terms(due_).credit) * patience;
    return due_ == Due::ByWait ? job.waiting_since + ran : job.submitted + life.stretch(ran);
}

Duration Guard::run(const JobSnapshot& job) const {
    return std::max(std::clamp(job.ran(), terms(due_).run_min, kRunMax), job.ran() / kRunDivisor);
}

TimePoint Guard::next_change(const JobSnapshot& job, std::int64_t patience,
                             const Crowd::Life& life) const {
    if (const auto claim = claims_.find(job.job); claim != claims_.end()) {
        const bool is_granted = claim->second.number > 0;
        return is_granted && job.runs ? job.when_used(claim->second.run_until) : kNever;
    }
    if (!job.waits || patience == 0) return kNever;
    const TimePoint due = due_at(job, patience, life);
    if (due_ == Due::ByWait) return due;
    // As the demand may fall, it is looked at again when it is twice as old at the latest.
    constexpr Duration kSoonest = std::chrono::minutes(1);
    const Duration age = std::max(job.now - job.submitted, kSoonest);
    return std::min(std::max(due, job.now + kSoonest), job.now + age);
}

std::vector<JobId> Guard::time_came(const JobSnapshot& job, std::int64_t patience,
                                    const Crowd::Life& life, std::int64_t may_have) {
    if (const auto found = claims_.find(job.job); found != claims_.end()) {
        const Claim& claim = found->second;
        const bool is_over = claim.number > 0 && job.runs && job.used() >= claim.run_until;
        return is_over ? give_up(job.job, may_have) : std::vector<JobId>{};
    }
    if (!job.waits || patience == 0 || job.now < due_at(job, patience, life)) return {};
    const Duration more = job.restart + run(job);
    claims_[job.job] = {.run_until = job.used() + more.count() * job.width / 1000,
                        .width = job.width};
    waiting_.push_back(job.job);
    return grant(may_have);
}

std::vector<JobId> Guard::changed(const JobSnapshot& job, std::int64_t may_have) {
    const auto found = claims_.find(job.job);
    if (found == claims_.end()) return {};
    // Who has started without a grant is not due any more.
    const bool is_granted = found->second.number > 0;
    const bool keeps = is_granted ? job.waits || job.runs : job.waits;
    return keeps ? std::vector<JobId>{} : give_up(job.job, may_have);
}

std::vector<JobId> Guard::ended(JobId job, std::int64_t may_have) {
    return claims_.contains(job) ? give_up(job, may_have) : std::vector<JobId>{};
}

std::vector<JobId> Guard::give_up(JobId job, std::int64_t may_have) {
    const Claim claim = claims_.at(job);
    claims_.erase(job);
    claim.number > 0 ? void(granted_ -= claim.width) : void(std::erase(waiting_, job));
    return grant(may_have);
}

// Without overtaking: a wide one comes when the others' runs are over.
std::vector<JobId> Guard::grant(std::int64_t may_have) {
    std::vector<JobId> granted;
    while (!waiting_.empty()) {
        Claim& claim = claims_.at(waiting_.front());
        const std::int64_t at_once = may_have * terms(due_).share / 100;
        if (granted_ > 0 && granted_ + claim.width > at_once) break;
        claim.number = ++grants_;
        granted_ += claim.width;
        granted.push_back(waiting_.front());
        waiting_.pop_front();
    }
    return granted;
}

void Guard::reset() { *this = Guard(due_); }

model::GuardLedger Guard::save() const {
    model::GuardLedger ledger{.grants = grants_, .claims = {}};
    for (const auto& [job, claim] : claims_) {
        if (claim.number == 0) continue;
        ledger.claims.push_back({job, claim.width, claim.run_until, claim.number});
    }
    for (const JobId job : waiting_) {
        const Claim& claim = claims_.at(job);
        ledger.claims.push_back({job, claim.width, claim.run_until, 0});
    }
    return ledger;
}

void Guard::restore(const model::GuardLedger& ledger) {
    reset();
    grants_ = ledger.grants;
    for (const model::ClaimLedger& one : ledger.claims) {
        claims_[one.job] = {one.run_until, one.width, one.number};
        one.number > 0 ? void(granted_ += one.width) : waiting_.push_back(one.job);
    }
}

}  // namespace berth::ordering
