// SPDX-License-Identifier: Apache-2.0
//
// Where do secrets lie? In files of the data directory that only the server's user can read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::api {

// Nothing where there is no such file. `what` it is: "token". Errors: Forbidden (another user may
// know it), Unavailable.
base::Result<std::optional<std::string>> read_private_file(std::string_view what,
                                                           const std::string& path);

// Mode 0600, in one step: half a secret, which a full disk would leave, is soon guessed. Errors:
// Unavailable.
base::Status write_private_file(std::string_view what, const std::string& path,
                                std::string_view text);

}  // namespace berth::api
