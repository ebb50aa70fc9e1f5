// SPDX-License-Identifier: Apache-2.0
//
// Whose promises stand in an owner's way? A promise gives no more right to GPUs than a job has that
// runs on them: what is promised to a project above its quota is given up when another needs it
// within its own (R6). Looked for when no victims help as long as all promises are kept. Of those
// that may be taken, one after the other until that helps: promises made without a claim first,
// then of the last in precedence, then of the youngest; promises elsewhere are kept.
// Profiles without sticky plans keep no promise from anybody; there nothing is looked for.
//
// Guarantees: with these promises void, and perhaps victims, the owner's job can start; a project
// that holds no more than its quota, promises included, loses none. Cost: O(holders log holders)
// and one search for victims, where there are such promises; where it helps, one for each that is
// taken.
#pragma once

#include "base/small_vector.h"
#include "scheduling/room/victims.h"

namespace berth::scheduling {

// Empty when it does not help. The cluster is as before after the call.
base::SmallVector<JobId, 16> promises_in_the_way(const PoolView& view,
                                                 const Beneficiary& beneficiary,
                                                 VictimSearch& search);

}  // namespace berth::scheduling
