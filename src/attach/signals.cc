// SPDX-License-Identifier: Apache-2.0
#include "attach/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace berth::attach {
namespace {

// A handler can reach nothing but this.
volatile sig_atomic_t handler_writes_to = -1;

void note(int signal) {
    const int error = errno;
    const char number = static_cast<char>(signal);
    [[maybe_unused]] const ssize_t size = ::write(handler_writes_to, &number, 1);
    errno = error;
}

}  // namespace

SignalCatcher::SignalCatcher(std::vector<int> caught, std::vector<int> ignored) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    reader_.reset(ends[0]);
    writer_.reset(ends[1]);
    handler_writes_to = writer_.get();
    const auto replace = [this](int signal, void (*handler)(int)) {
        Former former{signal, {}};
        struct sigaction action{};
        action.sa_handler = handler;  // without SA_RESTART: a blocked write must hear of Ctrl-C
        ::sigaction(signal, &action, &former.action);
        former_.push_back(former);
    };
    for (const int signal : caught) replace(signal, note);
    for (const int signal : ignored) replace(signal, SIG_IGN);
}

SignalCatcher::~SignalCatcher() {
    for (const Former& former : former_) ::sigaction(former.signal, &former.action, nullptr);
    handler_writes_to = -1;
}

std::optional<int> SignalCatcher::next() {
    char number = 0;
    if (::read(reader_.get(), &number, 1) != 1) return std::nullopt;
    return number;
}

}  // namespace berth::attach
