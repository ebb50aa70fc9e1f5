// SPDX-License-Identifier: Apache-2.0
//
// Which running jobs could move for the one that waits, and on which nodes do they stand? Left out
// is who is protected, too dear alone, or of whose move nothing would come (moves.h).
//
// Cost: looks at most at kMoveNodesTried nodes, those with the most idle GPUs first, and at the
// jobs on them.
#pragma once

#include <memory_resource>
#include <span>
#include <vector>

#include "scheduling/moves/migrations.h"
#include "scheduling/moves/move_price.h"

namespace berth::scheduling {

inline constexpr std::size_t kMoveNodesTried = 64;

class MovableJobs {
  public:
    MovableJobs(const PoolView& view, const cluster::Job& job, Migrations& known,
                std::pmr::memory_resource* memory);

    // In victim order (R8): of sets that are alike in all else the first one moves.
    std::size_t size() const { return jobs_.size(); }
    const Migration& operator[](std::size_t at) const { return jobs_[at]; }
    std::span<const Migration> all() const { return jobs_; }
    std::span<const NodeId> nodes() const { return nodes_; }
    // Positions of those on one of the nodes, by its position.
    std::span<const std::size_t> on_node(std::size_t at) const;
    // Why the others are left out.
    const MoveRefusal& refusal() const { return refusal_; }

  private:
    struct KnownShape {
        ShapeId shape;
        bool is_replaced;  // by tasks of the job, wherever it could go
        bool has_room;  // for one task
    };

    void look_at(const Migration& migration);
    void sort();
    bool can_go(const cluster::Job& movable);
    bool is_stand_in_for(ShapeId shape) const;
    bool asks_as_much(ShapeId shape, std::int64_t count) const;
    bool may_stand_wherever(ShapeId shape) const;
    std::size_t position_of(const Migration& movable);

    const PoolView& view_;
    const cluster::Job& job_;
    base::SmallVector<KnownShape, 16> shapes_;
    base::SmallVector<NodeId, kMoveNodesTried> nodes_;
    std::pmr::vector<std::size_t> on_nodes_;  // positions, one node after the other
    // Where those of a node begin; one more at the end.
    base::SmallVector<std::size_t, kMoveNodesTried + 1> first_on_node_;
    std::pmr::vector<Migration> jobs_;
    MoveRefusal refusal_;
};

// Whether a single task could stand anywhere, as far as free counts say.
bool has_room_for_one(const PoolView& view, ShapeId shape);

}  // namespace berth::scheduling
