// SPDX-License-Identifier: Apache-2.0
//
// On which nodes does a project run so much that could be paused for a job of its own? Kept for
// each project and number of GPUs, by the priority that the job has to have more than: so one
// list answers for jobs of every rank.
//
// Guarantees: no node is left out; what is protected or promised is counted as if it could be
// taken. Cost: the jobs on each node that changed since the last question of any project; then
// O(log).
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sorted_runs.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

class OwnWork {
  public:
    // A job of more priority than this could have the GPUs there.
    struct ReachableNode {
        cluster::PriorityKey least;
        NodeId node;

        bool operator<(const ReachableNode& other) const {
            return least != other.least ? least < other.least : node < other.node;
        }
    };
    // For this many GPUs of a node, the least priority first. Valid until the next question.
    const base::SortedRuns<ReachableNode>& reachable_nodes(const PoolView& view, ProjectId project,
                                                           int gpus);

  private:
    using Key = std::pair<ProjectId, int>;  // who, and how many GPUs
    struct Work {
        ProjectId project;
        cluster::PriorityKey priority_key;
        int gpus;

        bool operator<(const Work& other) const {
            if (project != other.project) return project < other.project;
            return priority_key < other.priority_key;
        }
    };

    void look_at_all(const PoolView& view);
    void look_at(const PoolView& view, NodeId node);

    std::uint64_t work_mark_ = 0;  // in the logs of the nodes that changed
    std::uint64_t ranks_mark_ = 0;
    std::vector<int> asked_;  // for how many GPUs
    std::map<Key, base::SortedRuns<ReachableNode>> reachable_nodes_;
    std::vector<std::vector<std::pair<Key, ReachableNode>>> on_;  // by node: what is listed of it
    std::vector<Work> work_;  // on the node that is looked at
};

}  // namespace berth::scheduling
