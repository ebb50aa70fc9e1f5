// SPDX-License-Identifier: Apache-2.0
//
// Did the user press Ctrl-C? While an Interrupt lives, SIGINT and SIGTERM are counted instead of
// ending the process, and a descriptor becomes readable, so that a blocking wait ends. One at a
// time in a process.
#pragma once

#include <csignal>

namespace berth::cli {

class Interrupt {
  public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    // Readable from the first signal until clear().
    int descriptor() const;
    bool has_come() const;
    // Forgets what came.
    void clear();

  private:
    struct sigaction old_interrupt_{};
    struct sigaction old_terminate_{};
};

}  // namespace berth::cli
