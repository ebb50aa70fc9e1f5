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
    using Projects = base::SmallVector<ProjectId, 128>;  // ascending
    struct Count {
        std::uint64_t mark = 0;  // in the log of the nodes that changed
        std::uint64_t used = 0;  // when, in questions
        Projects projects;  // whose units are counted
        std::vector<std::uint8_t> gpus;  // by node: that could be taken
        std::vector<cluster::NodeSet> nodes_with;  // by the number of such GPUs, from 1
    };

    Extent extent_of_own(const VictimQuery& query);
    Extent extent_of_lent(const VictimQuery& query);
    Extent answer(bool is_enough) const;
    std::int64_t slots_with_idle(const VictimQuery& query, const auto& could_have);
    std::int64_t keep_those_with_slots(const VictimQuery& query, const auto& could_have);
    int legal_gpus_on(const VictimQuery& query, NodeId node) const;
    Count& nearest(const VictimQuery& query);
    std::int64_t cost_to_follow(const VictimQuery& query, const Count& count) const;
    void bring_up_to_date(const VictimQuery& query, Count& count);
    void count_again(Count& count, const VictimQuery& query, NodeId node) const;

    OwnWork own_;
    std::vector<Count> lent_;  // for those who reclaim, by the projects that may lose
    std::vector<bool> may_lose_;  // by project, in this question
    std::uint64_t questions_ = 0;
    std::vector<NodeId> named_;
};

}  // namespace berth::scheduling
