// SPDX-License-Identifier: Apache-2.0
//
// Could enough of what a search may take stand together? Most searches for several GPUs of a node
// are in vain: on every node there is work that keeps its place. How many GPUs of each node could
// be taken is counted once and kept: the next search that may take about the same counts only the
// nodes again on which something changed, and those of the projects that make the difference. Where
// a slot may be had on few nodes only, it says which.
//
// Guarantees: no means that no search can find room, and a node that is not named has none; what
// is protected, reserved, dear or too much for the ledger is counted as if it could be taken.
// Cost: O(what changed since a like question), the nodes with idle GPUs, and a glance at each node
// when they are named.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduling/victims/node_work.h"
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
        std::vector<std::uint16_t> gpus;  // by node: that could be taken
        std::vector<std::int32_t> nodes_with;  // by the number of such GPUs
    };

    Extent extent_of_own(const VictimQuery& query);
    Extent extent_of_lent(const VictimQuery& query);
    bool is_enough_with_idle(const VictimQuery& query, const auto& could_have, std::int64_t slots);
    Count& nearest(const VictimQuery& query);
    std::int64_t cost_to_follow(const VictimQuery& query, const Count& count) const;
    void bring_up_to_date(const VictimQuery& query, Count& count);
    void count_again(Count& count, NodeId node) const;

    OwnWork own_;
    NodeWork work_;
    std::vector<Count> lent_;  // for those who reclaim, by the projects that may lose
    std::vector<bool> may_lose_;  // by project, in this question
    std::uint64_t questions_ = 0;
    std::vector<NodeId> named_;
};

}  // namespace berth::scheduling
