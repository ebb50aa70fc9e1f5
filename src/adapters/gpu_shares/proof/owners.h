// SPDX-License-Identifier: Apache-2.0
//
// Of which attempt is a process? Of the one below whose supervisor it runs: a supervisor takes in
// what its processes leave behind (PR_SET_CHILD_SUBREAPER), so that none gets out from under it,
// however many others are between the two. Nothing is asked that a process can change.
// A process costs a look at each one above it, once: its attempt stays the same as long as it
// lives.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "ports/launcher.h"

namespace berth::gpu_shares {

class Owners {
  public:
    // A new look, with these supervisors. What was not asked since the last one is forgotten.
    void look(std::map<pid_t, ports::AttemptId> supervisors);
    std::optional<ports::AttemptId> of(pid_t pid);

  private:
    std::optional<ports::AttemptId> search(pid_t pid) const;

    using Known = std::map<std::pair<pid_t, std::uint64_t>, ports::AttemptId>;  // with its start
    std::map<pid_t, ports::AttemptId> supervisors_;
    Known before_;
    Known known_;
};

}  // namespace berth::gpu_shares
