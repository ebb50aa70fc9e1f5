// SPDX-License-Identifier: Apache-2.0
//
// What do all processes of an attempt have in common, whatever they do to their environment,
// session and parents? A limit that processes inherit and that the kernel has not used since Linux
// 2.4.25 (RLIMIT_LOCKS, getrlimit(2)). A supervisor sets it before it starts anything, to a number
// of its attempt; /proc/PID/limits shows it. A process can take it off on purpose: this
// finds what was left behind when everything above it was killed, and does not hold what hides.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

namespace berth::supervision {

struct AttemptName {
    std::string_view cluster;
    std::int64_t job = 0;
    int attempt = 1;
};

// The same for the same name, and for no other by chance: 62 bits of a hash, at least 2^61.
std::uint64_t mark_of(const AttemptName& name);

// From now on this process and all that descend from it bear the mark.
void bear(std::uint64_t mark);

bool bears(pid_t pid, std::uint64_t mark);

}  // namespace berth::supervision
