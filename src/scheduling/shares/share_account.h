// SPDX-License-Identifier: Apache-2.0
//
// How did this project come to its fair share? The very division that decisions use, written down
// step by step (fair_share.h). Guarantees: each level's rows sum to what was divided, or to what is
// due when quotas exceed it; the project's row is its fair share in decisions.
#pragma once

#include "model/answer/share_account.h"
#include "scheduling/shares/fair_share.h"

namespace berth::scheduling {

model::ShareAccount account_of(const cluster::Cluster& cluster, const model::Policy& policy,
                               model::TimePoint now, PoolId pool, ProjectId project);

}  // namespace berth::scheduling
