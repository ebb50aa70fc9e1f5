// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/live_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "cli/terminal/streams.h"

namespace berth::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // own screen, no cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

}  // namespace

LiveScreen::LiveScreen(const Style& out) : out_(out) {
    is_full_screen_ = out_.is_terminal;
    if (!is_full_screen_) return;
    if (::tcgetattr(STDIN_FILENO, &saved_) == 0) {
        termios raw = saved_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        is_raw_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    print(kEnter);
}

LiveScreen::~LiveScreen() { close(); }

void LiveScreen::close() {
    is_closed_ = true;
    if (is_raw_) ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_);
    if (is_full_screen_) print(kLeave);
    is_raw_ = is_full_screen_ = false;
}

int LiveScreen::rows() const {
    winsize size{};
    const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
    return is_known ? size.ws_row : 1000;
}

Style LiveScreen::style() const {
    Style style = out_;
    winsize size{};
    const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    if (is_known) style.width = size.ws_col;
    return style;
}

// Lines are cleared as they are overwritten, never the whole screen: nothing flickers.
void LiveScreen::show(std::string page) {
    if (!is_full_screen_) return print(page + "\n");
    std::string text(kHome);
    int lines = rows() - 1;
    for (std::size_t start = 0; start < page.size() && lines > 0; --lines) {
        const std::size_t end = std::min(page.find('\n', start), page.size());
        text.append(page, start, end - start).append(kClearLine).append("\r\n");
        start = end + 1;
    }
    print(text.append(kClearBelow));
}

void LiveScreen::wait(base::Duration at_most) {
    pollfd wanted[2] = {{interrupt_.descriptor(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    if (::poll(wanted, is_raw_ ? 2 : 1, static_cast<int>(at_most.count())) <= 0) return;
    if (wanted[1].revents == 0) return;
    char key = 0;
    if (::read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q') is_closed_ = true;
}

}  // namespace berth::cli
