// SPDX-License-Identifier: Apache-2.0
//
// Which name is unique, and cannot be guessed? For tokens, keys and incarnations.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace berth::runtime {

// Random bytes of the system, as twice as many hexadecimal digits. Errors: Unavailable.
base::Result<std::string> random_name(std::size_t bytes);

}  // namespace berth::runtime
