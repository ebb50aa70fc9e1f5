// SPDX-License-Identifier: Apache-2.0
//
// How is a "what if" asked of the real cluster, leaving no trace?
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/change_log.h"
#include "cluster/jobs/job_state.h"
#include "cluster/nodes/others.h"

namespace berth::cluster {

class Cluster;

// For readers that come back; what a Trial takes back is known only to who read it meanwhile.
struct ChangedNodes {
    base::ChangeLog<NodeId> capacity;  // used otherwise
    // Tasks came, left, were asked to leave, started, saved or have another rank in their job.
    base::ChangeLog<NodeId> work;
    base::ChangeLog<NodeId> ranks;  // jobs have another in the order
};

// How a change made inside a Trial is taken back.
struct Undo {
    enum class What { Place, Release, Hold, DropHold, Take, GiveBack, Others } what;
    JobId job;
    PoolId pool;  // the job's pool before
    std::size_t first = 0;  // among the ranks or tasks to be undone
    std::size_t count = 0;
    View view = View::Idle;
    ShapeId shape = {};  // of what was taken or given back
};

// All that open Trials may take back, the oldest first, and what the entries speak of.
struct UndoList {
    std::vector<Undo> entries;
    std::vector<int> ranks;
    std::vector<TaskPlacement> tasks;
    std::vector<Reservation> reservations;
    std::vector<std::pair<NodeId, Others>> others;

    // Memory of reservations that are gone and of jobs without tasks, for the next ones.
    std::vector<std::vector<TaskPlacement>> free_tasks;
    std::vector<std::vector<PlacedTask>> spare_placed;

    void take_memory_of(std::vector<PlacedTask>& placed) {
        constexpr std::size_t kTasksMax = 4;  // of wide gangs there are few
        if (placed.capacity() == 0 || placed.capacity() > kTasksMax) return;
        placed.clear();
        spare_placed.push_back(std::move(placed));
    }
    void give_memory_to(std::vector<PlacedTask>& placed) {
        if (placed.capacity() > 0 || spare_placed.empty()) return;
        placed = std::move(spare_placed.back());
        spare_placed.pop_back();
    }

    void clear() {  // keeps the memory
        entries.clear();
        ranks.clear();
        tasks.clear();
        reservations.clear();
        others.clear();
    }
};

// [trial] changes that are made while it lives are taken back when it ends. Trials nest like
// brackets.
class Trial {
  public:
    explicit Trial(Cluster& cluster);
    ~Trial();
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

  private:
    Cluster& cluster_;
    std::size_t mark_;
    std::uint64_t capacity_mark_;  // in the logs of the nodes that changed
    std::uint64_t work_mark_;
};

}  // namespace berth::cluster
