// SPDX-License-Identifier: Apache-2.0
//
// Is a replay possible at all? Looks at nothing but the trace and the stays: no GPU serves two jobs
// at once, no job stands twice, all its GPUs are different and as many as it asks, none is held
// before its submission or after its end, and a finished job held its GPUs for exactly its work and
// its restarts (at most their cost each, for one may be cut short by the next pause).
#pragma once

#include <string>
#include <vector>

#include "simulation/replay.h"

namespace berth::simulation {

// What is wrong, one line each, the first ten; empty when nothing is. O(GPUs held + stays log
// stays).
std::vector<std::string> audit(const Experiment& experiment, const Replay& replay);

}  // namespace berth::simulation
