// SPDX-License-Identifier: Apache-2.0
//
// Which processes descend from one, and what do they listen to? Read from /proc. A supervisor is
// the subreaper of its attempt, so a process that forks away from its parent comes back to it and
// none can leave.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace berth::supervision {

struct Process {
    pid_t pid = 0;
    pid_t parent = 0;
};

// Living descendants of `root`, parents before children.
std::vector<Process> descendants_of(pid_t root);

// Bit n-1 is set when signal n has a handler in that process. 0 when it is gone.
std::uint64_t caught_signals(pid_t pid);

constexpr bool is_caught(std::uint64_t mask, int signal) {
    return signal > 0 && ((mask >> (signal - 1)) & 1U) != 0;
}

// Neither gone nor ended and waiting to be reaped.
bool is_living(pid_t pid);

// Whether none of its threads runs any more, or it is gone: what it held is given back or about to
// be, and no process listens to it.
bool is_leaving(pid_t pid);

// The process above it, also where it has ended and waits to be reaped; 0 when it is gone.
pid_t parent_of(pid_t pid);

// When it began, in ticks since the machine did: with its number that names it for good. 0 when it
// is gone.
std::uint64_t start_of(pid_t pid);

// Whether a stop signal holds it.
bool is_stopped(pid_t pid);

}  // namespace berth::supervision
