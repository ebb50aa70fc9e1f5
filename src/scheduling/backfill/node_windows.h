// SPDX-License-Identifier: Apache-2.0
//
// When do the GPUs of a node come free? Kept from one decision to the next: a node is looked at
// again when its tasks or reservations have changed, and when time alone changes the order of its
// GPUs.
//
// Cost: O(1) for an unchanged node; else the jobs on it.
#pragma once

#include <optional>
#include <vector>

#include "base/small_vector.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// No job is expected to end sooner.
inline constexpr model::Duration kShortestRun{60 * 1000};

// What decides when a job leaves its GPUs.
struct Run {
    TimePoint start;
    model::Duration declared{0};  // 0 = not
    bool is_service = false;
};
inline Run run_of(const cluster::Job& job) {
    return {job.last_start, job.expected_runtime, job.kind == model::JobKind::Inference};
}

// When that is: as declared, or, if it has not or runs longer, when it has run as
// long again, at least kShortestRun. Services do not end.
struct End {
    TimePoint time;
    bool is_declared = true;
    bool is_never = false;
};
End end_of(const Run& run, TimePoint now);

class NodeWindows {
  public:
    // One GPU that could be reserved, once its users have left.
    struct GpuWindow {
        int gpu = 0;
        int unknown = 0;  // users that have not declared their end
        TimePoint declared = TimePoint::min();  // by then all others have left
        TimePoint unknown_since = TimePoint::max();  // when the first of those unknown has started

        TimePoint free_at(TimePoint now) const;
    };
    struct User {
        int gpu = 0;
        JobId job;
    };
    struct Node {
        // That become free some day and are not promised already, the best first.
        base::SmallVector<GpuWindow, 8> windows;
        base::SmallVector<User, 8> unknown;  // have not declared their end; by job
        std::optional<TimePoint> next_end;  // the first that was declared
    };
    const Node& on(const PoolView& view, NodeId node);

  private:
    struct Known {
        Node node;
        // As long as these are the node's, and the present is between these.
        std::uint32_t stamp = 0;
        int gpus = 0;
        std::uint64_t whole = 0;
        TimePoint from = TimePoint::max();
        TimePoint until = TimePoint::min();
    };
    // Uses GPUs, and was not asked to leave.
    struct Occupant {
        JobId job;
        std::uint64_t gpus = 0;
        Run run;
    };
    void look_at(const PoolView& view, NodeId node, Known& known);
    void find_occupants(const cluster::Cluster& cluster, NodeId node);

    std::vector<Known> known_;  // by node
    std::vector<Occupant> occupants_;  // of the node that is looked at, by id
};

}  // namespace berth::scheduling
