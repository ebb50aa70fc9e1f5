// SPDX-License-Identifier: Apache-2.0
//
// Who is at the other end? What the kernel says about who connects to the sockets in
// the arbiter's directory; nothing of it is the peer's word.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "vgpu/arbiter/talk/descriptor.h"
#include "vgpu/ledger/admission.h"

namespace berth::vgpu::arbiter {

struct Peer {
    Descriptor socket;
    Descriptor process;  // a pidfd: readable once the process has ended
    pid_t pid = 0;
    uid_t uid = 0;
};

// A file to give up for a moment when there are no more.
Descriptor spare_file();

// Takes the next one in line; without an open socket when there is none or it has gone again, or
// when there is no file left for it: then it is hung up on.
Peer accept_peer(int listener, Descriptor& spare);

// Whether it is of the arbiter's user, or root.
bool is_owner(const Peer& peer);

// One packet into `into`; returns its whole length even where it is longer, 0 when the peer has
// gone, -1 when there is nothing to read.
ssize_t receive(int socket, void* into, std::size_t size);

// False when it could not be sent; the peer is then of no use.
bool send_welcome(int socket, const ledger::Welcome& welcome, int account, int terms);

inline constexpr std::size_t kAnswerPacketMax = std::size_t{64} << 10;  // a socket takes that

// To an order, likewise. A longer one is a file that comes with the packet "ok" (send_order.h).
bool send_answer(int socket, std::string_view text);

bool has_ended(const Descriptor& process);

}  // namespace berth::vgpu::arbiter
