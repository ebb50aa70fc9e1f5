// SPDX-License-Identifier: Apache-2.0
//
// How is a socket in a folder listened at and reached, and who is at the other end? Sockets are
// files: the folder's rights say who may come, and both ends check the other's user besides.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "runtime/descriptor.h"
#include "runtime/folder.h"

namespace berth::runtime {

enum class SocketKind { Stream, Packets };

struct Listener {
    Descriptor socket;  // does not block
    bool was_left = false;  // a process that has ended had listened there
};

// `mode`: 0600, or 0666 where the folder alone says who may connect.
// Errors: Exists (a living process listens there), Exhausted, Invalid, Unavailable.
base::Result<Listener> listen_at(const Folder& folder, const std::string& name, SocketKind kind,
                                 mode_t mode);

// A connection, not blocking. Errors: Unavailable (no listener, or too many wait),
// Forbidden (another user listens there), Exhausted, Invalid.
base::Result<Descriptor> connect_to(const std::string& path, SocketKind kind);

// The process at the other end of a connected socket is of our user, or root.
bool is_peer_trusted(int socket);
// The process that connected; 0 when it cannot be known.
pid_t peer_pid(int socket);

}  // namespace berth::runtime
