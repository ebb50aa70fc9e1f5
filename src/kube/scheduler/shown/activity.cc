// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/shown/activity.h"

namespace berth::kube::scheduler {

void Activity::add(const Activity& other) {
    decisions.add(other.decisions);
    binds.bound += other.binds.bound;
    binds.refused += other.binds.refused;
    binds.unknown += other.binds.unknown;
    binds.given_back += other.binds.given_back;
    pauses += other.pauses;
    watches.add(other.watches);
}

}  // namespace berth::kube::scheduler
