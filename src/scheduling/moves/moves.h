// SPDX-License-Identifier: Apache-2.0
//
// Which running jobs could move together, so that this one fits? Rule R5. Enough GPUs may be
// idle, but not together on one node; jobs in the way then move to other idle GPUs.
//
//   which move  preemptible jobs of any project and any priority, as a whole, at most moves_max;
//               in profile berth not within their minimum run
//               (left out, for nothing would come of it: a job whose every other place tasks of the
//               waiting job could fill themselves, and one for which no slot is left beside it)
//   accepted    only if every one of them has a place in the same plan, and none of them could
//               stay without being in the way
//   price       (policy.priced_moves) what the moved jobs lose, unsaved work and restart, is at
//               most what the waiting job has lost by waiting: its GPUs times the time since it
//               entered the queue. A migration that costs at most what the wait has cost so far
//               makes the total at most twice the optimum (the ski-rental argument).
//
// Trusts: idle GPUs alone do not do. Guarantees: the cluster is as before after the call. The
// cheapest set, then the fewest jobs, when at most kExactMigrations jobs are worth it on the nodes
// looked at; beyond that the nodes that are cheapest to clear, one task each, which may miss what a
// gang that needs several tasks in one domain could do with. Cost: looks at most at kMoveNodesTried
// nodes, those with the most idle GPUs first, and at the jobs on them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <optional>
#include <tuple>
#include <vector>

#include "model/plan.h"
#include "scheduling/moves/migrations.h"
#include "scheduling/moves/move_price.h"
#include "scheduling/place/place.h"

namespace berth::scheduling {

inline constexpr std::size_t kExactMigrations = 10;

struct FoundMoves {
    std::vector<model::Move> moves;  // none = no job moves
    Places places;  // of the waiting job
    // When a set that is too dear now is worth its price, or may be asked. No later, perhaps
    // earlier: sets that are too dear are not tried.
    std::optional<TimePoint> worth_at;
};

// Searches for one job after the other. While nothing changes, what was found out for a job holds
// for every other one that asks the same, but for the price it may cost.
class MoveSearch {
  public:
    // `may_move` tells who this decision may still move at all.
    MoveSearch(const PoolView& view, std::function<bool(const cluster::Job&)> may_move,
               std::pmr::memory_resource* memory)
        : view_(view), known_(memory), migrations_(view, std::move(may_move), memory) {}

    // `opened`: which of the GPUs that are kept for gangs are given back for it, one bit for each
    // gang's; without it nothing is known from others nor remembered.
    FoundMoves find(const cluster::Job& job, std::optional<std::uint64_t> opened);
    // Says that what anybody holds, or what is free, has changed.
    void forget() {
        known_.clear();
        migrations_.forget();
    }

  private:
    // All that a search looks at of a job that waits as a whole, and what was opened for it.
    using Question = std::tuple<ShapeId, int, model::JobKind, bool, std::uint64_t>;

    const PoolView& view_;
    std::pmr::map<Question, MoveRefusal> known_;
    Migrations migrations_;
};

}  // namespace berth::scheduling
