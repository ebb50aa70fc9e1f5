// SPDX-License-Identifier: Apache-2.0
//
// Which earlier promises are due, and which are void? Stage 1 of a decision.
//   due   everything promised has been left by its holders, and the job itself has left where it
//         was: it starts there
//   void  the deadline has passed, or a node is gone
// Whoever is to let somebody pass keeps what is due until then.
// A promise of GPUs on one node that somebody there still uses is not looked at again before that
// node or the promise changes. Cost: O(promises), and the tasks of those that are looked at.
#pragma once

#include <functional>
#include <vector>

#include "scheduling/plan_draft.h"

namespace berth::scheduling {

// Whether the GPUs promised to the job are free for it now.
bool is_due(const cluster::Cluster& cluster, const cluster::Job& job);

// What one decision about a cluster leaves for the next.
class PromiseWatch {
  public:
    void honour(PlanDraft& draft, const std::function<bool(JobId)>& must_let_pass);

  private:
    // Not due as long as these are the node's and the promise is what it was.
    struct Blocked {
        JobId job;
        NodeId node;
        std::uint32_t stamp = 0;
        TimePoint deadline;
    };
    bool still_blocked(const cluster::Cluster& cluster, const Blocked& blocked,
                       TimePoint now) const;
    void find_changed(const cluster::Holders& holders);

    std::uint64_t mark_ = 0;  // in the log of promises that changed
    std::vector<JobId> changed_;  // since the last decision, by id
    std::vector<Blocked> blocked_, before_;  // by id
};

}  // namespace berth::scheduling
