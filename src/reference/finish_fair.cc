// SPDX-License-Identifier: Apache-2.0
#include "reference/finish_fair.h"

#include <algorithm>

namespace berth::reference {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kSoonUnfair = 0;
constexpr std::int64_t kLong = 1;
constexpr std::int64_t kRest = 2;

}  // namespace

Rank FinishFair::rank(const JobSnapshot& job) const {
    return jobs_[static_cast<std::size_t>(job.job)].rank;
}

void FinishFair::go_to(TimePoint now) {
    asked_ += demand_ * (now - now_).count();
    now_ = now;
}

void FinishFair::notice(OrderEvent event, const JobSnapshot& job) {
    go_to(job.now);
    if (event == OrderEvent::Submitted) {
        jobs_.resize(std::max(jobs_.size(), static_cast<std::size_t>(job.job) + 1));
        const Duration work = job.left.value_or(Duration{});
        known(job.job) = {job.gpus, job.submitted, work, work, asked_};
        demand_ += job.gpus;
        if (job.left) alive_.push_back(job.job);
    } else if (event == OrderEvent::Finished) {
        demand_ -= job.gpus;
        std::erase(alive_, job.job);
    } else if (job.left) {
        known(job.job).left = *job.left;
    }
}

// As if it ran from now on, and the demand stayed as it is.
Rank FinishFair::planned(const Known& job, GpuMs left_of_all) const {
    const TimePoint end = now_ + job.left;
    const Duration life = std::max(end - job.submitted, Duration{1});
    const Wide alone = Wide{life.count()} * terms_.gpus;
    const Wide asked = asked_ - job.asked_before + Wide{demand_} * job.left.count();
    const auto end_at = [&](std::int64_t percent) {
        const Wide span = Wide{job.work.count()} * std::max(asked, alone) / alone * percent / 100;
        return job.submitted + Duration{static_cast<Duration::rep>(span)};
    };
    const TimePoint fair_end = end_at(100);
    const TimePoint goal = end <= fair_end ? fair_end : end_at(terms_.worst_percent);
    if (end + terms_.soon >= goal) return {.level = kSoonUnfair, .key = base::to_ms(goal)};
    if (Wide{job.left.count()} * terms_.gpus * 100 >= Wide{left_of_all} * terms_.long_percent) {
        return {.level = kLong, .key = -job.left.count()};
    }
    return {.level = kRest, .key = job.left.count() * job.gpus};
}

bool FinishFair::all_moved() {
    GpuMs left_of_all = 0;
    for (const JobIndex job : alive_) left_of_all += known(job).left.count() * known(job).gpus;
    for (const JobIndex job : alive_) known(job).rank = planned(known(job), left_of_all);
    return true;
}

}  // namespace berth::reference
