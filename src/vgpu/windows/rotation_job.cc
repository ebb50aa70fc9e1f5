// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/rotation_job.h"

#include <algorithm>
#include <tuple>

namespace berth::vgpu::windows {

std::uint64_t persistent(const RotationJob& job) {
    if (iterates(job)) return std::max(job.sight.persistent, std::uint64_t{1});
    return job.claim.persistent != 0 ? job.claim.persistent : job.claim.limit;
}

std::uint64_t peak(const RotationJob& job) {
    const std::uint64_t known = iterates(job) ? job.sight.peak : job.claim.peak;
    return std::max({known, persistent(job), job.sight.charged});
}

std::uint64_t peaks(const RotationJobs& jobs) {
    std::uint64_t sum = 0;
    for (const RotationJob& job : jobs) sum += peak(job);
    return sum;
}

bool fits(const RotationJob& newcomer, const RotationJobs& jobs, std::uint64_t memory) {
    std::uint64_t stays = persistent(newcomer);
    std::uint64_t largest = peak(newcomer) - persistent(newcomer);
    bool is_first = true;
    for (const RotationJob& job : jobs) {
        if (!job.is_admitted) continue;
        is_first = false;
        stays += persistent(job);
        largest = std::max(largest, peak(job) - persistent(job));
    }
    return is_first || stays + largest <= memory;
}

bool goes_before(Policy policy, const RotationJob& one, const RotationJob& other) {
    const auto left = [](const RotationJob& job) {
        return job.claim.expected_ns > 0 ? job.claim.expected_ns - job.used : INT64_MAX;
    };
    switch (policy) {
        case Policy::pack: return one.waits_since < other.waits_since;
        case Policy::fair: return one.score < other.score;
        case Policy::fifo: return one.id < other.id;
        case Policy::srtf: return left(one) < left(other);
        case Policy::priority:
            return std::tuple(-one.claim.priority, one.score) <
                   std::tuple(-other.claim.priority, other.score);
    }
    return false;
}

bool is_to_be_measured(const RotationJob& job, std::int64_t now) {
    return iterates(job) && !job.sight.is_measured && now >= job.measure_after;
}

bool others_wait(const RotationJob& holder, const RotationJobs& jobs) {
    return std::all_of(jobs.begin(), jobs.end(), [&](const RotationJob& job) {
        return job.id == holder.id || (job.sight.work.waiting && !job.sight.work.in_flight);
    });
}

}  // namespace berth::vgpu::windows
