// SPDX-License-Identifier: Apache-2.0
//
// One of several schedulers of a cluster, of which one leads: the others wait for its Lease. Who
// gets it lists what is there and goes on; who loses it must not go on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/scheduler/election.h"
#include "kube/scheduler/scheduler.h"

namespace berth::kube::scheduler {

class Replica {
  public:
    Replica(client::Requests& requests, client::Timers& timers, const ports::Clock& clock,
            Candidate candidate, Options options);

    void start() { election_.start(); }
    // Stops deciding and gives the Lease back; calls `then` when it is over.
    void stop(std::function<void()> then);

    bool leads() const { return election_.leads(); }
    // Who led when this was last heard of another one; empty: it was not yet.
    const std::string& other_leader() const { return other_leader_; }
    // Null while another one leads.
    const Scheduler* scheduler() const { return scheduler_.get(); }
    // Since the start, of all schedulers that it had.
    Activity activity() const;
    // Set when it cannot go on: a new process is the recovery.
    std::optional<base::Error> failure() const;
    std::string trouble() const;

  private:
    void lead();
    void end_scheduler();

    client::Requests& requests_;
    client::Timers& timers_;
    const ports::Clock& clock_;
    Options options_;
    bool has_lost_ = false;
    std::string other_leader_;
    Activity before_;  // of schedulers that have ended
    client::Timer again_;
    Election election_;
    std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace berth::kube::scheduler
