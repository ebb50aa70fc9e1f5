// SPDX-License-Identifier: Apache-2.0
//
// Who is paused and could go on elsewhere? Last: whoever was paused as a whole, and now finds
// another place, moves instead. Everybody who waited has had his turn at it. Higher priority first,
// then the older. A job that leaves in parts, for several others, is left at that.
#pragma once

#include <memory_resource>

#include "scheduling/plan_draft.h"
#include "scheduling/pool_view.h"

namespace berth::scheduling {

void rehouse(PlanDraft& draft, const PoolView& view, std::pmr::memory_resource* memory);

}  // namespace berth::scheduling
