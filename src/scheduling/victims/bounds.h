// SPDX-License-Identifier: Apache-2.0
//
// Could enough of what a search may take stand together? Most searches for several GPUs of a node
// are in vain: on every node there is work that keeps its place. How many GPUs of each node could
// be taken is counted once and kept: the next search that may take about the same counts only the
// nodes again on which something changed, and those of the projects that make the difference. Of
// the nodes that are left it asks how many GPUs the ledger lets each side lose there; where they
// are few, which units. Where a slot may be had on few nodes only, it says which.
//
// Guarantees: no means that no search can find room, and a node that is not named has none; what
// is taken elsewhere, reserved or dear is counted as if it could be taken.
// Cost: O(what changed since a like question), the nodes with idle GPUs, and the projects on each
// node with enough.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduling/victims/own_work.h"
#include "scheduling/victims/victim_query.h"

namespace berth::scheduling {

class Bounds {
  public:
    // What there is when all that the query may take has left.
    struct Extent {
        bool is_enough;  // for all the beneficiary's tasks, perhaps
        // On which alone one of them may fit, each once; nothing where they are many, or not known.
        // It stands until the next question.
        std::optional<std::span<const NodeId>> nodes;
    };
    Extent extent(const VictimQuery& query);

  private:
    // For those who reclaim.
    struct Lent {
        std::uint64_t mark = 0;  // in the log of the nodes that changed
        std::size_t nodes = 0;  // how many there were
        base::SmallVector<ProjectId, 128> projects;  // whose work may be taken, ascending
        std::vector<bool> may_lose;  // by project: whether it is one of them
        cluster::NodeCounts gpus;  // that could be: one that several share counts for each of them
    };

    Extent extent_of_own(const VictimQuery& query);
    Extent extent_of_lent(const VictimQuery& query);
    Extent answer(bool is_enough) const;
    std::int64_t slots_with_idle(const VictimQuery& query, const auto& could_have);
    std::int64_t keep_those_with_slots(const VictimQuery& query, const auto& could_have);
    int legal_gpus_on(const VictimQuery& query, NodeId node) const;
    void bring_up_to_date(const VictimQuery& query);
    void count_again(const VictimQuery& query, NodeId node);

    OwnWork own_;
    Lent lent_;
    std::vector<NodeId> named_;
};

}  // namespace berth::scheduling
