// SPDX-License-Identifier: Apache-2.0
//
// How is this state written down? The inverse of describe.h: a description from which
// from_description() makes a state that decides the same, in the same order of nodes and jobs.
// What no decision looks at (attempts, service received, who submitted) is left out; so are,
// although decisions look at them, the ledgers of work wasted today and of measured past use.
#pragma once

#include "lifecycle/apply.h"
#include "model/description.h"

namespace berth::lifecycle {

// Of several live jobs of one project and name all but the first get their number behind the name.
model::Description written_down(const State& state, model::TimePoint now);

}  // namespace berth::lifecycle
