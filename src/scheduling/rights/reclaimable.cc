// SPDX-License-Identifier: Apache-2.0
#include "scheduling/rights/reclaimable.h"

namespace berth::scheduling {

void Reclaimable::forget(const PoolView& view, MilliGpu reserved) {
    kept_ = reserved;
    known_.assign(view.cluster.projects().size(), std::array<Known, 2>{});
}

bool Reclaimable::is_possible(const PoolView& view, ProjectId project, MilliGpu amount,
                              Counting counting) {
    if (amount == MilliGpu{0}) return could_be_freed(view, project, amount, counting);
    Known& known = known_[project.index()][static_cast<std::size_t>(counting)];
    if (amount <= known.possible) return true;
    if (known.refused >= MilliGpu{0} && amount >= known.refused) return false;
    const bool is_possible = could_be_freed(view, project, amount, counting, kept_);
    (is_possible ? known.possible : known.refused) = amount;
    return is_possible;
}

}  // namespace berth::scheduling
