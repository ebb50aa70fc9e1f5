// SPDX-License-Identifier: Apache-2.0
//
// By which rung of the ladder would an attempt be paused, and why not by a checkpoint? Decided when
// it is started, by what is asked for and what its node can do; what only shows at the pause itself
// (managed memory, no host memory) is reported then. Pure; docs/adr/0015.
#pragma once

#include <string>

#include "model/job/pause_way.h"
#include "ports/launcher.h"

namespace berth::gpu_shares {

// What the freezer of a node says of it.
struct NodeAbility {
    std::string why_not;  // it cannot checkpoint; empty = it can
    std::string shares_why_not = {};  // ... a job that shares GPUs
    std::string parks_why_not = {};  // calls to GPUs are not seen there; empty = they are
    bool can_move = false;  // a job may come back on other GPUs of the node than it left
    int gpus = 0;  // of the node
};

model::PauseWay pause_way(const ports::LaunchOrder& order, const NodeAbility& node);

}  // namespace berth::gpu_shares
