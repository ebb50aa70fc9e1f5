// SPDX-License-Identifier: Apache-2.0
//
// How does an open file go from one process to another? As a message on a unix socket, whose data
// is one byte. A file under way stays open, and locked, even when its sender dies meanwhile.
#pragma once

#include <vector>

#include "supervision/descriptor.h"

namespace berth::supervision {

inline constexpr std::size_t kPassedMax = 8;

// False with errno when the socket did not take it.
bool pass_descriptors(int socket, const std::vector<int>& descriptors);

// Waits for a message. Empty when the peer has gone.
std::vector<Descriptor> receive_descriptors(int socket);

}  // namespace berth::supervision
