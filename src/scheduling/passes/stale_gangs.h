// SPDX-License-Identifier: Apache-2.0
//
// Which gangs keep GPUs although they cannot work? Rule R10: a gang that runs with fewer tasks than
// its minimum, for longer than its grace, is paused whole; it waits for a place for all of its
// tasks then. One that has enough whole groups to start with gives back its other tasks alone. The
// grace is the job's own, else the policy's; negative: for ever. A task of ours does not end well
// by itself, the attempt ends as one, so no job is paused at its finish.
//
// Asked last in a decision: a gang that was given what it misses, or was promised it, is left
// alone. Cost: O(gangs below their minimum).
#pragma once

#include "scheduling/passes/decision.h"

namespace berth::scheduling {

void pause_stale_gangs(Decision& decision);

}  // namespace berth::scheduling
