// SPDX-License-Identifier: Apache-2.0
//
// What becomes of an attempt whose supervisor is killed? Its processes come to the spawner, from
// which none can get away (PR_SET_CHILD_SUBREAPER), and are killed. Until the last of them is gone
// the spawner holds the lock of the status file, so that no server takes the attempt for over.
// It stays as long as it has supervisors, with or without a server.
#pragma once

#include <sys/types.h>

#include <map>
#include <vector>

#include "supervision/descriptor.h"

namespace berth::supervisor {

class Brood {
  public:
    void add(pid_t supervisor, supervision::Descriptor status);
    // In a supervisor: none of them is its own.
    void forget() { *this = {}; }

    // Takes note of who has ended, and kills what a killed supervisor left. Answers in how many
    // milliseconds it has to be called again, or -1: when a child ends.
    int tend();
    bool is_empty() const { return living_.empty() && orphaned_.empty(); }

  private:
    void reap();
    bool kill_orphans() const;

    std::map<pid_t, supervision::Descriptor> living_;  // their status files
    std::vector<supervision::Descriptor> orphaned_;  // of those that were killed
};

}  // namespace berth::supervisor
