// SPDX-License-Identifier: Apache-2.0
//
// How does an owner give the arbiter of a directory an order? One packet there, one back, a
// long answer in a file that comes with it.
#pragma once

#include <string>

#include "base/result.h"

namespace berth::vgpu::arbiter {

// The arbiter's answer, "ok..." or "error: ...". Errors: Unavailable when no arbiter answers.
base::Result<std::string> send_order(const std::string& directory, const std::string& order);

}  // namespace berth::vgpu::arbiter
