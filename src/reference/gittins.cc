// SPDX-License-Identifier: Apache-2.0
#include "reference/gittins.h"

namespace berth::reference {

Gittins::Gittins(const std::vector<GpuMs>& sizes, std::int64_t stickiness_percent)
    : stickiness_percent_(stickiness_percent) {
    if (!sizes.empty()) index_.learn(sizes);
}

Rank Gittins::rank(const JobSnapshot& job) const {
    const GpuMs whole = cost(job.attained());
    const GpuMs counted = job.runs ? whole / 100 * stickiness_percent_ : whole;
    return {.key = counted, .tie = job.runs ? 0 : 1};
}

TimePoint Gittins::next_change(const JobSnapshot& job) const {
    return job.runs ? job.when_attained(index_.next_step(job.attained())) : kNever;
}

}  // namespace berth::reference
