// SPDX-License-Identifier: Apache-2.0
//
// Under which names do supervisors and freezers listen, in the runtime folder of their server
// (runtime/folder.h)? The server, an attached client and a later server reach them there.
#pragma once

#include <cstdint>
#include <string>

namespace berth::supervision {

// "57.1": attempt 1 of job 57.
std::string attempt_socket(std::int64_t job, int attempt);
// "freezer-NODE"
std::string freezer_socket(const std::string& node);

}  // namespace berth::supervision
