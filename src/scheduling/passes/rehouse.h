// SPDX-License-Identifier: Apache-2.0
//
// Which job is paused and could go on elsewhere? One that is paused as a whole, and finds another
// place when every job that waited has had its turn at it, moves there instead. Higher priority
// first, then the older. A job that leaves in parts, for several others, is left at that.
#pragma once

#include "scheduling/passes/decision.h"

namespace berth::scheduling {

void rehouse(Decision& decision);

}  // namespace berth::scheduling
