// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/line.h"

#include <tuple>

namespace berth::cluster {

bool LaneKey::operator<(const LaneKey& other) const {
    return std::tie(other.precedence, stage, shape, ask, preemptible, preference, preemption_delay,
                    home, alone, minutes) < std::tie(precedence, other.stage, other.shape,
                                                     other.ask, other.preemptible, other.preference,
                                                     other.preemption_delay, other.home,
                                                     other.alone, other.minutes);
}

bool VictimKey::operator<(const VictimKey& other) const {
    const auto order = std::tie(precedence, other.stage, other.created, other.job) <=>
                       std::tie(other.precedence, stage, created, job);
    return order < 0;
}

int position_in_line(const Lanes& lanes, const Job& job) {
    int ahead = 0;
    const Precedence own = job.precedence_in_line();
    for (const auto& [key, lane] : lanes) {
        const bool is_equal = key.precedence == own && key.stage == job.stage();
        const bool is_better =
            key.precedence > own || (key.precedence == own && key.stage < job.stage());
        if (is_better) ahead += static_cast<int>(lane.size());
        if (is_equal) ahead += static_cast<int>(lane.rank({job.created, job.id}));
        if (!is_better && !is_equal) break;
    }
    return ahead + 1;
}

}  // namespace berth::cluster
