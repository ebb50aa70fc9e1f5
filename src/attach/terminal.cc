// SPDX-License-Identifier: Apache-2.0
#include "attach/terminal.h"

#include <sys/ioctl.h>

namespace berth::attach {

RawTerminal::RawTerminal(int fd) : fd_(fd) {
    is_raw_ = ::tcgetattr(fd_, &before_) == 0;
    renew();
}

void RawTerminal::renew() {
    if (!is_raw_) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    ::tcsetattr(fd_, TCSADRAIN, &raw);
}

RawTerminal::~RawTerminal() {
    if (is_raw_) ::tcsetattr(fd_, TCSADRAIN, &before_);
}

supervision::TerminalSize size_of_terminal(int input, int output, int error_output) {
    for (const int fd : {output, input, error_output}) {
        winsize window{};
        if (::ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_row > 0)
            return {window.ws_row, window.ws_col};
    }
    return {};
}

}  // namespace berth::attach
