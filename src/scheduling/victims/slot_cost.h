// SPDX-License-Identifier: Apache-2.0
//
// What is the cheapest way to make room for one task on this node? Branch and bound over the
// units that stand there, on a copy of the node's free amounts; at most kSlotSteps steps, which
// covers every node with up to 10 units exactly. Asked thousands of times in a decision, so what
// one search needed of memory serves the next.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduling/place/free_capacity.h"
#include "scheduling/victims/victim_query.h"

namespace berth::scheduling {

inline constexpr int kSlotSteps = 2048;

struct SlotCost {
    bool is_possible = false;
    Cost cost;
    std::vector<std::size_t> units;   // to take, including units of the same jobs elsewhere
};

// What a search leaves for the next: room in memory, nothing else.
struct SlotScratch {
    struct Candidate {
        std::int64_t lost;
        std::size_t unit;
    };
    struct Taken {
        std::size_t unit;
        MilliGpu largest_before;  // in the ledger
    };
    std::vector<Candidate> candidates;
    std::vector<FreeCapacity> reachable;
    std::vector<Taken> taken;
    SlotCost best;
    std::vector<bool> is_chosen;  // by unit; those beyond its end are not
};

// Units that are chosen are gone. The ledger knows of them, and is as before after the call. The
// answer stays in the query's scratch.
const SlotCost& cheapest_slot(const VictimQuery& query, ReclaimLedger& ledger, NodeId node);

}  // namespace berth::scheduling
