// SPDX-License-Identifier: Apache-2.0
//
// May more unsaved work be destroyed in this pool today? Pauses that are not an owner taking back
// its quota draw on a budget: a part of the pool's GPU time of one day (UTC). When it is spent,
// only owners within their quota have anybody paused; they draw on nothing and are never refused.
// The pause that spends the rest may go beyond it.
//
// Spent is what pauses of the day destroyed, those under way as foreseen; who saves in time gives
// it back (lifecycle/apply.cc).
#pragma once

#include "scheduling/rights/victim_terms.h"

namespace berth::scheduling {

// Whether pauses for this beneficiary draw on the budget.
bool is_wasteful(const PoolView& view, const Beneficiary& beneficiary);

// Whether nothing of the budget is left. `planned`: what the decision in progress destroys itself.
bool is_waste_spent(const PoolView& view, std::int64_t planned_gpu_ms);

// When there is a whole budget again.
TimePoint waste_renewal(TimePoint now);

}  // namespace berth::scheduling
