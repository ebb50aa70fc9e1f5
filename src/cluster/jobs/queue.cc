// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/queue.h"

#include <tuple>

namespace berth::cluster {

bool JobClassKey::operator<(const JobClassKey& other) const {
    return std::tie(other.priority_key, gang_phase, shape, ask, preemptible, preference,
                    preemption_delay, bound_region, singleton,
                    minutes) < std::tie(priority_key, other.gang_phase, other.shape, other.ask,
                                        other.preemptible, other.preference, other.preemption_delay,
                                        other.bound_region, other.singleton, other.minutes);
}

bool VictimKey::operator<(const VictimKey& other) const {
    const auto order = std::tie(priority_key, other.gang_phase, other.created, other.job) <=>
                       std::tie(other.priority_key, gang_phase, created, job);
    return order < 0;
}

int position_in_queue(const JobClasses& job_classes, const Job& job) {
    int ahead = 0;
    const PriorityKey own_key = job.queue_priority();
    for (const auto& [key, job_class] : job_classes) {
        const bool is_equal = key.priority_key == own_key && key.gang_phase == job.gang_phase();
        const bool is_better = key.priority_key > own_key ||
                               (key.priority_key == own_key && key.gang_phase < job.gang_phase());
        if (is_better) ahead += static_cast<int>(job_class.size());
        if (is_equal) ahead += static_cast<int>(job_class.rank({job.created, job.id}));
        if (!is_better && !is_equal) break;
    }
    return ahead + 1;
}

}  // namespace berth::cluster
