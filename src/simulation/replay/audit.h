// SPDX-License-Identifier: Apache-2.0
//
// Is a replay possible at all? Looks at nothing but the trace, the intervals and the model of
// speeds (mix.h): no GPU serves more jobs at once than may share one, parts of a GPU are together
// at most all of it, those who share a GPU share all of theirs, no job stands twice, all its GPUs
// are different, of one model and as many as it asks, none is held before its submission or after
// its end, it goes on without a start only where it was, and a finished job made, beside those who
// were there and after each restart, exactly the progress it needed, to the millisecond.
#pragma once

#include <string>
#include <vector>

#include "simulation/replay/replay.h"

namespace berth::simulation {

// What is wrong, one line each, the first ten; empty when nothing is. O(GPUs held + intervals log
// intervals).
std::vector<std::string> audit(const Experiment& experiment, const Replay& replay);

}  // namespace berth::simulation
