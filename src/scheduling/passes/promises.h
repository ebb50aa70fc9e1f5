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

#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

class Decision;

// Whether the GPUs promised to the job are free for it now.
bool is_due(const cluster::Cluster& cluster, const cluster::Job& job);

// What one decision about a cluster leaves for the next.
class PromiseWatch {
  public:
    void honour(Decision& decision, const std::function<bool(JobId)>& must_let_pass);

  private:
    // Not due before its node has another stamp.
    struct Blocked {
        JobId job;
        NodeId node;
        std::uint32_t stamp = 0;
        TimePoint deadline;
    };
    static bool is_as_before(const cluster::Cluster& cluster, const Blocked& blocked);
    void note_if_blocked(const cluster::Cluster& cluster, const cluster::Job& job);

    std::vector<Blocked> blocked_;  // by id
    std::vector<Blocked> before_;  // by the last decision
};

}  // namespace berth::scheduling
