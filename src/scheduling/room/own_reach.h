// SPDX-License-Identifier: Apache-2.0
//
// On which nodes does a project run so much that could be paused for a job of its own? Kept for
// each project and number of GPUs, by the precedence that the job has to have more than: so one
// list answers for jobs of every rank.
//
// Guarantees: no node is left out; what is protected or promised is counted as if it could be
// taken. Cost: the jobs on each node
// that changed since the last question, whoever asked; then O(log).
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sorted_runs.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

class OwnReach {
  public:
    // Whoever has more precedence than this could have the GPUs there.
    struct Spot {
        cluster::Precedence least;
        NodeId node;

        bool operator<(const Spot& other) const {
            return least != other.least ? least < other.least : node < other.node;
        }
    };
    // For so many GPUs of a node, the least precedence first. Valid until the next question.
    const base::SortedRuns<Spot>& spots(const PoolView& view, ProjectId project, int gpus);

  private:
    using Key = std::pair<ProjectId, int>;  // who, and how many GPUs
    struct Work {
        ProjectId project;
        cluster::Precedence precedence;
        int gpus;

        bool operator<(const Work& other) const {
            if (project != other.project) return project < other.project;
            return precedence < other.precedence;
        }
    };

    void look_at_all(const PoolView& view);
    void look_at(const PoolView& view, NodeId node);

    std::uint64_t mark_ = 0;  // in the log of the nodes that changed
    std::vector<int> asked_;  // for how many GPUs
    std::map<Key, base::SortedRuns<Spot>> spots_;
    std::vector<std::vector<std::pair<Key, Spot>>> on_;  // by node: what is listed of it
    std::vector<Work> work_;  // on the node that is looked at
};

}  // namespace berth::scheduling
