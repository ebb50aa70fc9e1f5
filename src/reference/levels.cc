// SPDX-License-Identifier: Apache-2.0
#include "reference/levels.h"

#include <algorithm>

namespace berth::reference {

Rank Levels::rank(const JobSnapshot& job) const {
    const auto passed = std::ranges::upper_bound(thresholds_, job.attained());
    return {.level = passed - thresholds_.begin(), .key = base::to_ms(job.first_start)};
}

TimePoint Levels::next_change(const JobSnapshot& job) const {
    const auto next = std::ranges::upper_bound(thresholds_, job.attained());
    if (!job.runs || next == thresholds_.end()) return kNever;
    return job.when_attained(*next);
}

}  // namespace berth::reference
