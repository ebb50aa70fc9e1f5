// SPDX-License-Identifier: Apache-2.0
#include "reference/tiresias_released.h"

#include <algorithm>
#include <iterator>

namespace berth::reference {
namespace {

constexpr std::int64_t kLimitsSeconds[] = {3250, 7200};

std::int64_t seconds(Duration time) { return time.count() / 1000; }

}  // namespace

Rank TiresiasReleased::rank(const JobSnapshot& job) const {
    const Place& place = places_[static_cast<std::size_t>(job.job)];
    return {
        .level = static_cast<std::int64_t>(place.queue), .key = place.part, .tie = place.number};
}

TimePoint TiresiasReleased::next_change(const JobSnapshot& job) const {
    const std::size_t queue = places_[static_cast<std::size_t>(job.job)].queue;
    if (!job.runs || queue == std::size(kLimitsSeconds)) return kNever;
    const std::int64_t wait_s = (kLimitsSeconds[queue] - seconds(job.held)) / job.gpus;
    return job.now + std::chrono::seconds(wait_s);
}

void TiresiasReleased::notice(OrderEvent event, const JobSnapshot& job) {
    if (event == OrderEvent::Submitted) {
        places_.resize(std::max(places_.size(), static_cast<std::size_t>(job.job) + 1));
        place(job.job) = {.number = ++last_};
    }
    if (event != OrderEvent::Changed || !job.runs) return;
    Place& own = place(job.job);
    if (own.queue == std::size(kLimitsSeconds)) return;
    if (seconds(job.held) * job.gpus < kLimitsSeconds[own.queue]) return;
    own = {.queue = own.queue + 1, .part = kBehind, .number = ++last_};
    demoted_.push_back(job.job);
}

void TiresiasReleased::settle(std::span<const JobIndex> started, std::span<const JobIndex> paused) {
    for (auto job = paused.rbegin(); job != paused.rend(); ++job) {
        Place& own = place(*job);
        if (own.part == kInFront) own = {own.queue, kBehind, --first_};
        std::erase(demoted_, *job);
    }
    for (const JobIndex job : started) place(job) = {place(job).queue, kInFront, ++last_};
    for (const JobIndex job : demoted_) place(job) = {place(job).queue, kInFront, ++last_};
    demoted_.clear();
}

}  // namespace berth::reference
