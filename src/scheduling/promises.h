// SPDX-License-Identifier: Apache-2.0
//
// Which earlier promises are due, and which are void? Stage 1 of a decision.
//   due   everything promised has been left by its holders, and the job itself has left where it
//         was: it starts there
//   void  the deadline has passed, or a node is gone
// Whoever is to let somebody pass keeps what is due until then.
// Cost: O(tasks promised).
#pragma once

#include <functional>

#include "scheduling/plan_draft.h"

namespace berth::scheduling {

// Whether the GPUs promised to the job are free for it now.
bool is_due(const cluster::Cluster& cluster, const cluster::Job& job);

void honour_promises(PlanDraft& draft, const std::function<bool(JobId)>& must_let_pass);

}  // namespace berth::scheduling
