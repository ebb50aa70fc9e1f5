// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/at_once.h"

#include <algorithm>

namespace berth::vgpu::windows {
namespace {

constexpr std::int64_t kIdleMin = 150;  // thousandths of the time, where turns do not pay
constexpr std::int64_t kWakes = 5'000'000;  // ns in which who is let is no longer seen waiting

// The driver gives all the same.
bool is_as_the_driver_does(Policy policy, const RotationJobs& jobs) {
    if (policy == Policy::pack) return true;
    return policy == Policy::fair && std::all_of(jobs.begin(), jobs.end(), [&](const auto& job) {
               return job.claim.weight == jobs.front().claim.weight;
           });
}

}  // namespace

void AtOnce::judge_anew() {
    do_turns_pay_ = true;
    turns_ns_ = idle_ns_ = 0;
}

void AtOnce::count(std::int64_t elapsed, std::int64_t idle) {
    turns_ns_ += elapsed;
    idle_ns_ += idle;
}

bool AtOnce::is_time(const RotationTerms& terms, const RotationPace& pace, const RotationJobs& jobs,
                     std::int64_t now) {
    if (turns_ns_ >= pace.judged_after) {
        do_turns_pay_ = idle_ns_ * 1000 <= turns_ns_ * kIdleMin;
        turns_ns_ = idle_ns_ = 0;
    }
    const auto may = [&](const RotationJob& job) {
        return job.is_admitted && !is_to_be_measured(job, now);
    };
    // Who is let and waits all the same waits for memory.
    const auto lacks = [](const RotationJob& job) { return job.sight.work.waiting; };
    const bool is_crowded =
        is_now() && now - since_ > kWakes && std::any_of(jobs.begin(), jobs.end(), lacks);
    if (is_crowded) crowded_until_ = now + pace.crowded_for;
    const bool is_time = jobs.size() > 1 && !do_turns_pay_ && now >= crowded_until_ &&
                         is_as_the_driver_does(terms.policy, jobs) && peaks(jobs) <= terms.memory &&
                         std::all_of(jobs.begin(), jobs.end(), may);
    if (!is_time)
        since_ = -1;
    else if (since_ < 0)
        since_ = now;
    return is_time;
}

}  // namespace berth::vgpu::windows
