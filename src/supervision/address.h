// SPDX-License-Identifier: Apache-2.0
//
// Where does the supervisor of an attempt listen, and whom does it trust? On an abstract unix
// socket named after cluster, job and attempt: no file to clean up, gone with the process. Abstract
// names have no file permissions, so both ends check the user at the other end instead.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "supervision/descriptor.h"

namespace berth::supervision {

inline constexpr std::size_t kClusterNameMax = 60;

struct AttemptName {
    std::string cluster;
    std::int64_t job = 0;
    int attempt = 1;
};

// Errors: Exists (another process has the name), Exhausted, Invalid, Internal.
base::Result<Descriptor> listen_at(const std::string& socket);
base::Result<Descriptor> listen_as(const AttemptName& name);

// The name of the socket, without the zero byte that makes it abstract.
std::string socket_of(const AttemptName& name);

// A connection, not blocking. Errors: Unavailable (nobody listens, or too many wait),
// Forbidden (someone of another user listens there), Invalid (the name is too long).
base::Result<Descriptor> connect_to(const std::string& socket);

// The process at the other end of a connected socket is of our user, or root.
bool is_peer_trusted(int socket);
// The process that connected; 0 when it cannot be known.
pid_t peer_pid(int socket);

}  // namespace berth::supervision
