// SPDX-License-Identifier: Apache-2.0
//
// How does an owner give the arbiter of a directory an order? One packet there, one back, a
// long answer in a file that comes with it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/result.h"

namespace berth::vgpu::arbiter {

// Asked again and again while an arbiter has the order and does not answer: its process, and for
// how long. How much longer to wait; 0 = no more.
using WhenLate = std::function<int(pid_t arbiter, int waited_ms)>;
// Ten seconds.
int wait_ten_seconds(pid_t arbiter, int waited_ms);

// The arbiter's answer, "ok..." or "error: ...". Errors: Unavailable when no arbiter answers.
base::Result<std::string> send_order(const std::string& directory, const std::string& order,
                                     const WhenLate& when_late = wait_ten_seconds);

}  // namespace berth::vgpu::arbiter
