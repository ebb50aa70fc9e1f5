// SPDX-License-Identifier: Apache-2.0
//
// When is the next decision due, whatever happens? At once where carrying the plan out may leave
// more to decide; else when the rank of a job changes by time alone. What single passes wait for
// they have said themselves.
#pragma once

#include "scheduling/passes/decision.h"

namespace berth::scheduling {

void settle(Decision& decision);

}  // namespace berth::scheduling
