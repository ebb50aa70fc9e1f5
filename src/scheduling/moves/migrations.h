// SPDX-License-Identifier: Apache-2.0
//
// Which of the jobs on a node could move, and what would each lose? Looked up once for all the
// searches of a decision that look at the node (moves.h).
//
// Cost: O(jobs on the node) the first time, then O(1).
#pragma once

#include <cstdint>
#include <functional>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/small_vector.h"
#include "model/plan.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// What is expected to be lost by moving.
struct MigrationCost {
    std::int64_t price = 0;  // GPU-milliseconds, now
    MilliGpu gpus{0};  // which lose more with every second
};

// A running job that could move as a whole, now or when its minimum run is over.
struct Migration {
    const cluster::Job* job = nullptr;
    model::PauseCost cost;  // if it does not save
    MigrationCost expected;
    std::optional<TimePoint> protected_until;
};

class Migrations {
  public:
    // `may_move` says which jobs this decision may still move.
    Migrations(const PoolView& view, std::function<bool(const cluster::Job&)> may_move,
               std::pmr::memory_resource* memory)
        : view_(view), may_move_(std::move(may_move)), on_node_(memory), migrations_(memory) {}

    // Those on the node, by id. Valid until the next question.
    std::span<const Migration> on(NodeId node);
    // Says that GPUs have changed hands.
    void forget();

  private:
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };

    void look_at(NodeId node);

    const PoolView& view_;
    std::function<bool(const cluster::Job&)> may_move_;
    std::pmr::unordered_map<NodeId, Range> on_node_;  // where its migrations are
    std::pmr::vector<Migration> migrations_;
    base::SmallVector<JobId, 16> here_;
};

}  // namespace berth::scheduling
