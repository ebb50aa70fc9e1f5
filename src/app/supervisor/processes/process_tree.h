// SPDX-License-Identifier: Apache-2.0
//
// How is a signal brought to the processes of this attempt? To all descendants of the supervisor,
// read from /proc only when an attempt is stopped or leaves something behind; a job that ends by
// itself never pays for it.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace berth::supervisor {

// Sends `signal` down every branch as far as the first process that handles it: a launcher that
// handles it passes it on in its own way, and its data loaders are not disturbed while it saves;
// a shell that does not is ended, so that it cannot go on to its next command. Answers which
// processes handle it and may now be saving.
std::vector<pid_t> ask_to_stop(pid_t root, int signal);

// Ends every descendant at once, but for `spared` and what is below them. They are first all
// stopped, so that none forks out of sight. Answers how many there were.
std::size_t kill_descendants(pid_t root, std::set<pid_t> spared = {});

}  // namespace berth::supervisor
