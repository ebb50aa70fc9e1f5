// SPDX-License-Identifier: Apache-2.0
//
// Which processes belong to this attempt, and which of them want to hear a signal? All descendants
// of the supervisor: it is their subreaper, so a process that forks away from its parent comes back
// to it and none can leave. Read from /proc, only when an attempt is stopped or leaves something
// behind; a job that ends by itself never pays for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace berth::supervisor {

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

// Sends `signal` down every branch as far as the first process that handles it: a launcher that
// handles it passes it on in its own way, and its data loaders are not disturbed while it saves;
// a shell that does not is ended, so that it cannot go on to its next command. Answers which
// processes handle it and may now be saving.
std::vector<pid_t> ask_to_stop(pid_t root, int signal);

bool is_living(pid_t pid);

// Ends every descendant at once. They are first all stopped, so that none forks out of sight.
void kill_descendants(pid_t root);

}  // namespace berth::supervisor
