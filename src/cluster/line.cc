// SPDX-License-Identifier: Apache-2.0
#include "cluster/line.h"

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
    return std::tie(precedence, other.stage, other.created, other.job) <
           std::tie(other.precedence, stage, created, job);
}

}  // namespace berth::cluster
