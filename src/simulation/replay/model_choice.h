// SPDX-License-Identifier: Apache-2.0
//
// Who gets GPUs of which model now? In order of rank, as hand_out.h: a running job keeps its GPUs,
// or is paused for a job before it and chooses again; a job without GPUs chooses among the models
// with room, of those on which it runs at all. No job stands on two models. Then, by Swap, two jobs
// of equally many GPUs change places where the sum of their speeds, as parts of each one's best,
// grows enough, and who gains as much on GPUs that idle moves to them. All pay for a restart.
//
// Guarantees: who gets GPUs at all is one pass in order of rank, whatever is swapped; what a move
// leaves idle is handed out at the next event. Nothing is known of how long jobs will take: who
// swaps shortly before its end only loses.
// Cost: O(running x models) and the room by Nodes; by Swap O(running^2).
#pragma once

#include "simulation/replay/hand_out.h"

namespace berth::simulation {

struct ModelChoice {
    enum class Rule {
        Any,  // where most GPUs are left by those before it
        Fastest,  // where it is fastest
        Swap,  // the same, then they swap
    };

    Rule rule = Rule::Any;
    std::int32_t gain_percent = 10;  // least, to swap or move
};

// `mixes` knows the speeds. `free` is kept in step with the result.
HandOut choose_models(const Queues& queues, std::vector<Holder> running,
                      reference::Order::OrderTraits traits, const Mixes& mixes, ModelChoice choice,
                      FreeGpus& free);

}  // namespace berth::simulation
