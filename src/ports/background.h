// SPDX-License-Identifier: Apache-2.0
//
// Who does what takes time, beside the thread that decides?
#pragma once

#include <functional>

namespace berth::ports {

// Runs `work` on another thread, which must touch nothing of the server, and `then` on the loop's
// afterwards. False, and neither is run, when too much waits for its turn.
using Background = std::function<bool(std::function<void()> work, std::function<void()> then)>;

}  // namespace berth::ports
