// SPDX-License-Identifier: Apache-2.0
//
// Who gets GPUs now, where jobs may share them? In order of rank, as hand_out.h: a running job
// stays with its group as long as it adds to what they get done; a job without GPUs takes free ones
// or joins the group of as many GPUs that gains most by it, if one gains enough: much beside free
// GPUs while more is asked than there is, little when there are none; else it waits, or is paused.
// What is free in the end goes to those who share: no job shares while GPUs idle that would do.
//
// Guarantees: who shares, shares all its GPUs with the same jobs; what Mixes refuses is not done.
// Cost: O((running + started) x groups of its width + queues) and the room by Nodes.
#pragma once

#include "simulation/replay/hand_out.h"

namespace berth::simulation {

// `free` is kept in step with the result.
HandOut share(const Queues& queues, std::vector<Holder> running,
              reference::Order::OrderTraits traits, Mixes& mixes, FreeGpus& free);

}  // namespace berth::simulation
