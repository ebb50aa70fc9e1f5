// SPDX-License-Identifier: Apache-2.0
//
// Which reservations are in an owner's way? A reservation gives no more right to GPUs than a job
// has that runs on them: what is promised to a project above its quota is given up when another
// needs it within its own (R6). Looked for when no victims help as long as all reservations are
// kept. Of those that may be taken, one after the other until that helps: reservations made without
// a claim first, then of the last in priority, then of the youngest; reservations elsewhere are
// kept.
//
// Guarantees: with these reservations void, and perhaps victims, the owner's job can start; a
// project that holds no more than its quota, reservations included, loses none. Cost: O(holders log
// holders) and one search for victims, where there are such reservations; where it helps, one for
// each that is taken.
#pragma once

#include "base/small_vector.h"
#include "scheduling/victims/victims.h"

namespace berth::scheduling {

// Empty when it does not help. The cluster is as before after the call.
base::SmallVector<JobId, 16> reservations_in_the_way(const PoolView& view,
                                                     const Beneficiary& beneficiary,
                                                     VictimSearch& search);

}  // namespace berth::scheduling
