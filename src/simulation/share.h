// SPDX-License-Identifier: Apache-2.0
//
// Who gets GPUs now, where jobs may share them? In order of rank, as hand_out.h: a running job
// stays with its group while what they are worth together allows it; a job without GPUs takes free
// ones; when there are none left it joins the group of as many GPUs that gains most by it, if one
// gains enough; else it waits, or is paused. What is free in the end goes to those who share, first
// in rank first: nobody shares while GPUs idle that would do.
//
// Guarantees: who shares, shares all its GPUs with the same jobs; what Mixes refuses is not done.
// Cost: O((running + started) x groups of its width + queues) and the room by Nodes.
#pragma once

#include "simulation/hand_out.h"

namespace berth::simulation {

// `free` is kept in step with the result.
HandOut share(const Queues& queues, std::vector<Holder> running, Mixes& mixes, FreeGpus& free);

}  // namespace berth::simulation
