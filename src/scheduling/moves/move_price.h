// SPDX-License-Identifier: Apache-2.0
//
// What may jobs lose by moving for one that waits, and when is what is too dear now worth it? The
// price of moves.h: at most what the waiting job has lost by waiting.
#pragma once

#include <cstdint>
#include <optional>

#include "base/small_vector.h"
#include "scheduling/moves/migrations.h"

namespace berth::scheduling {

// Why no job moves.
struct MoveRefusal {
    base::SmallVector<MigrationCost, 4> too_dear;  // none worse than another
    std::optional<TimePoint> protected_until;  // when more jobs may be moved

    // Of what was not tried for its price, only what may be worth it first is kept.
    void add(const MigrationCost& cost);
    void add(TimePoint until);
};

bool is_too_dear(const PoolView& view, const cluster::Job& job, std::int64_t price);
// When it is worth looking again.
std::optional<TimePoint> worth_at(const PoolView& view, const cluster::Job& job,
                                  const MoveRefusal& refusal);

}  // namespace berth::scheduling
