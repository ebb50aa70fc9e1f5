// SPDX-License-Identifier: Apache-2.0
#include "ordering/levels.h"

#include <algorithm>

namespace berth::ordering {

Rank Levels::rank(const Standing& job) const {
    const auto passed = std::ranges::upper_bound(thresholds_, job.attained());
    const std::int64_t level = passed - thresholds_.begin();
    if (inside_ == Inside::FirstStart) {
        return {.level = level, .key = base::to_ms(job.first_start)};
    }
    const bool by_width = inside_ == Inside::Narrowest ||
                          (inside_ == Inside::OldestOnLast && passed != thresholds_.end());
    return {.level = level, .key = job.runs ? 0 : 1, .tie = by_width ? job.gpus : 0};
}

TimePoint Levels::next_change(const Standing& job) const {
    const auto next = std::ranges::upper_bound(thresholds_, job.attained());
    if (!job.runs || next == thresholds_.end()) return kNever;
    return job.when_attained(*next);
}

std::vector<GpuMs> geometric_thresholds(GpuMs first, std::int64_t factor, int count) {
    std::vector<GpuMs> thresholds;
    for (GpuMs next = first; count > 0; --count, next *= factor) thresholds.push_back(next);
    return thresholds;
}

}  // namespace berth::ordering
