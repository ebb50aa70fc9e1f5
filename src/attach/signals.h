// SPDX-License-Identifier: Apache-2.0
//
// Which signals came to this process? While a SignalCatcher lives they are noted, a descriptor
// becomes readable, and nothing else happens. One at a time in a process.
#pragma once

#include <signal.h>

#include <optional>
#include <vector>

#include "supervision/descriptor.h"

namespace berth::attach {

class SignalCatcher {
  public:
    // `ignored` are taken from their handlers as well, and dropped.
    SignalCatcher(std::vector<int> caught, std::vector<int> ignored);
    ~SignalCatcher();
    SignalCatcher(const SignalCatcher&) = delete;
    SignalCatcher& operator=(const SignalCatcher&) = delete;

    int fd() const { return reader_.get(); }
    // The next one that came; none when there is no more.
    std::optional<int> next();

  private:
    struct Former {
        int signal = 0;
        struct sigaction action{};
    };

    supervision::Descriptor reader_;
    supervision::Descriptor writer_;
    std::vector<Former> former_;
};

}  // namespace berth::attach
