// SPDX-License-Identifier: Apache-2.0
//
// How does a page that keeps changing look? On a terminal it is repainted in place, on a screen
// of its own, without flicker, and q or Ctrl-C leaves; elsewhere pages follow one another.
#pragma once

#include <termios.h>

#include <string>

#include "base/quantity.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/style.h"

namespace berth::cli {

class LiveScreen {
  public:
    explicit LiveScreen(const Style& out);
    ~LiveScreen();
    LiveScreen(const LiveScreen&) = delete;
    LiveScreen& operator=(const LiveScreen&) = delete;

    void show(std::string page);
    // Until the time is over or the user leaves.
    void wait(base::Duration at_most);
    // How many lines fit.
    int rows() const;
    // With the present width: the window may have changed.
    Style style() const;
    bool is_closed() const { return is_closed_ || interrupt_.has_come(); }
    // Gives the terminal back as it was.
    void close();

  private:
    Style out_;
    Interrupt interrupt_;
    bool is_full_screen_ = false;
    bool is_raw_ = false;
    bool is_closed_ = false;
    termios saved_{};
};

}  // namespace berth::cli
