// SPDX-License-Identifier: Apache-2.0
//
// What does the log say? Read beside the store that writes it, on any one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "model/event.h"

namespace berth::ports {

class LogReader {
  public:
    virtual ~LogReader() = default;

    // Calls `visit` for every durable event with a larger sequence, in order, at most `limit`.
    virtual base::Status read_events(std::int64_t after, std::int64_t limit,
                                     const std::function<void(model::Event&&)>& visit) = 0;
};

// Errors: Unavailable (the log cannot be read).
using OpenLog = std::function<base::Result<std::unique_ptr<LogReader>>()>;

}  // namespace berth::ports
