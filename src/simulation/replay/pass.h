// SPDX-License-Identifier: Apache-2.0
//
// Who has to go, and who moves? The passes of hand_out.h in which a job is paused, over all jobs in
// order of rank. Running jobs before the first that waits stay: no job takes anything before them.
// Of those behind it only the last in rank are looked at, as far as they are needed.
#pragma once

#include "simulation/replay/hand_out.h"

namespace berth::simulation {

// GPUs held by running jobs behind `first`; counted no further than `enough`.
std::int32_t held_behind(const Ranked& first, std::int32_t enough, FromLast& running);

// At least one job waits. `free` is kept in step with the result.
HandOut pass_by_count(const Queues& queues, FromLast& running, FreeGpus& free);
// By Nodes or Profile.
HandOut pass_by_nodes(const Queues& queues, FromLast& running, FreeGpus& free);

}  // namespace berth::simulation
