// SPDX-License-Identifier: Apache-2.0
//
// Did the core keep what quotas promise? All that audit.h looks at, saving left aside, and: no job
// starts where another still saves; a pause takes the time to save; no project held more than its
// limit or a fixed quota; the ledger accounts for all GPU time, each day; and no demand within a
// quota that fits anywhere waited longer than the pause grace (quota_waits.h). The last is promised
// where the pool's quotas sum to no more than there is and freed GPUs are held for whom they were
// freed (the profile `classic` does not hold them).
//
// Looks at nothing but the trace, the description of the cluster and who held which GPU when.
#pragma once

#include <string>
#include <vector>

#include "simulation/core/quota_accounts.h"

namespace berth::simulation {

// What is wrong, one line each; empty when nothing is.
std::vector<std::string> audit(const Accounts& accounts, const CoreExperiment& experiment,
                               const CoreReplay& run);

}  // namespace berth::simulation
