// SPDX-License-Identifier: Apache-2.0
//
// What is the cheapest way to make room for one task on this node? Branch and bound over the
// pieces that stand there, on a copy of the node's free amounts; at most kSlotSteps steps, which
// covers every node with up to 10 pieces exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduling/eviction.h"

namespace berth::scheduling {

inline constexpr int kSlotSteps = 2048;

struct SlotCost {
    bool is_possible = false;
    std::int64_t cost = 0;             // GPU-milliseconds
    int jobs = 0;
    std::vector<std::size_t> pieces;   // to take, including pieces of the same jobs elsewhere
};

// Pieces that are chosen are gone. The ledger knows of them, and is as before after the call.
SlotCost cheapest_slot(const Hunt& hunt, ReclaimLedger& ledger, const std::vector<bool>& is_chosen,
                       NodeId node);

}  // namespace berth::scheduling
