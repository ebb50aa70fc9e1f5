// SPDX-License-Identifier: Apache-2.0
//
// What would a project destroy by taking back what it loses? One that holds no more than its fair
// share asks for its GPUs again as soon as its job is paused, and gets them from a side that holds
// more than its allocatable share. Then one newcomer costs two pauses, so the second counts too:
// the least that pausing anything there destroys. What is taken from that side directly costs one.
//
// Cost: the projects that may lose, times those that run work.
#pragma once

#include "scheduling/victims/victim_query.h"

namespace berth::scheduling {

// By project; nothing for those that would not come back so.
void price_comebacks(VictimQuery& query);

}  // namespace berth::scheduling
