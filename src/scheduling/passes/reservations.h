// SPDX-License-Identifier: Apache-2.0
//
// Which earlier reservations are due, and which are void?
//   due   all who used these GPUs have left them, and the job itself has left its old place: it
//         starts there
//   void  the deadline has passed, or a node is gone
// A job that must withdraw keeps what is due until its turn.
// A reservation of GPUs on one node that a job there still uses is not looked at again before
// that node or the reservation changes. Cost: O(reservations), and the tasks of those that are
// looked at.
#pragma once

#include <functional>
#include <vector>

#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

class Decision;

// Whether the GPUs reserved for the job are free for it now.
bool is_due(const cluster::Cluster& cluster, const cluster::Job& job);

// What one decision about a cluster leaves for the next.
class ReservationWatch {
  public:
    void start_due(Decision& decision, const std::function<bool(JobId)>& must_withdraw);

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
