// SPDX-License-Identifier: Apache-2.0
//
// How does a user's process come to be? By vfork and exec, so that it costs what the exec costs and
// a failure is known, with its reason, before spawn() returns.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace berth::supervisor {

struct SpawnPlan {
    const std::vector<std::string>* command = nullptr;
    const std::vector<std::string>* environment = nullptr;
    std::string group_file;  // where it writes its number before anything else; empty = nowhere
    std::string workdir;  // empty = the root directory
    mode_t umask = 022;
    int input = -1;  // -1 = leave the supervisor's, which is /dev/null
    int output = -1;
    int error_output = -1;
    std::string terminal;  // path of a terminal to take over instead of the three above
};

struct Spawned {
    pid_t pid = -1;
    int exit_code = 0;  // 126 or 127 when it could not be started
    std::string failure;  // for people; empty when it runs
    bool is_for_want = false;  // of what the machine lacks now: it may do better soon
};

// The process leads a group of its own, or a session when it has a terminal; it dies with the
// supervisor. The command is searched in the PATH of the calling process. One with a share of a GPU
// that it would not keep to is not started.
Spawned spawn(const SpawnPlan& plan);

}  // namespace berth::supervisor
