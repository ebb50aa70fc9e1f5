// SPDX-License-Identifier: Apache-2.0
//
// Where could a gang run once jobs in its way have left, and when is that? The measure by which
// backfill reservations choose (backfill.h), for one decision: nothing that runs changes meanwhile.
//
// Cost: looks at most at kBackfillNodes nodes, or two for each task, those with the most idle GPUs:
// once for each shape, and once at the jobs on each.
#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "base/small_vector.h"
#include "scheduling/backfill/node_windows.h"

namespace berth::scheduling {

inline constexpr std::size_t kBackfillNodes = 256;

// Room for one task.
struct TaskWindow {
    int unknown = 0;  // jobs in its way that have not declared their end
    TimePoint declared;  // free by then, if those unknown are gone
    TimePoint expected;
    NodeId node;
    std::uint64_t mask = 0;

    auto key() const { return std::tuple(unknown, declared, node, mask); }
};

class TaskWindows {
  public:
    // Makes it ready for a decision, which view and windows outlive.
    void open(const PoolView& view, NodeWindows& windows);

    // The best ones for the whole gang beside what is `reserved` already, the best first; none when
    // there are not enough. Valid until the next question.
    std::span<const TaskWindow> best_for(const cluster::Job& job,
                                         std::span<const model::TaskPlacement> reserved);
    // The first declared end of those that were looked at.
    std::optional<TimePoint> next_end() const { return next_end_; }

  private:
    // All of one shape, as if nothing were reserved.
    struct ShapeWindows {
        ShapeId shape;
        std::size_t nodes_max = 0;
        std::vector<NodeId> nodes;  // that were looked at, ascending
        std::vector<TaskWindow> windows;
        std::size_t sorted = 0;  // this many are the best ones, the best first
    };
    ShapeWindows& of_shape(const cluster::Job& job);
    void find_nodes_to_look_at(ShapeWindows& same) const;
    static void sort_more(ShapeWindows& same, std::size_t count);
    // Adds those of one node.
    void add(std::vector<TaskWindow>& found, ShapeId shape, NodeId node,
             std::span<const model::TaskPlacement> reserved);
    static int count_unknown(const NodeWindows::Node& node, std::uint64_t mask);

    const PoolView* view_ = nullptr;
    NodeWindows* windows_ = nullptr;
    std::vector<ShapeWindows> by_shape_;  // those in use, then those whose memory is kept
    std::size_t shapes_ = 0;  // in use
    std::vector<NodeId> reserved_nodes_;  // for the gang
    std::vector<TaskWindow> beside_;  // on them
    std::vector<TaskWindow> best_;
    std::optional<TimePoint> next_end_;
};

}  // namespace berth::scheduling
