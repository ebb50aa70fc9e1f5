// SPDX-License-Identifier: Apache-2.0
//
// How is a supervisor started? By posix_spawn, which does not copy the server's memory, with the
// whole order in an anonymous file: it has everything before its first instruction.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "ports/launcher.h"
#include "supervision/descriptor.h"
#include "supervision/order.h"

namespace berth::process {

struct SupervisorPlace {
    const std::string& program;
    const std::string& cluster;
    const std::string& jobs_dir;
    const std::string& boot;
    int null_fd = -1;
};

struct SpawnedSupervisor {
    pid_t pid = -1;
    supervision::Descriptor channel;
};

// `status_fd` is the locked status file. Errors: Unavailable, Exhausted.
base::Result<SpawnedSupervisor> spawn_supervisor(const SupervisorPlace& place,
                                                 const ports::LaunchOrder& launch, int status_fd);

// What the supervisor is told; a pure translation.
supervision::Order make_order(const SupervisorPlace& place, const ports::LaunchOrder& launch);

}  // namespace berth::process
