// SPDX-License-Identifier: Apache-2.0
//
// How is our terminal handed to a job and taken back? In raw mode every key reaches the job's own
// terminal, which knows what Ctrl-C means; the old mode returns when this object goes.
#pragma once

#include <termios.h>

#include "supervision/frame.h"

namespace berth::attach {

class RawTerminal {
  public:
    // Does nothing when `fd` is no terminal.
    explicit RawTerminal(int fd);
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

    // Once more, after this process was stopped and continued.
    void renew();

  private:
    int fd_;
    bool is_raw_ = false;
    termios before_{};
};

// Zero rows when none of the three is a terminal.
supervision::TerminalSize size_of_terminal(int input, int output, int error_output);

}  // namespace berth::attach
