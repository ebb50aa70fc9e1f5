// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"

namespace berth::cli {
namespace {

// A signal handler can reach nothing but globals.
volatile std::sig_atomic_t signals_seen = 0;
int wake_pipe[2] = {-1, -1};

void note_signal(int) {
    const int saved_errno = errno;
    signals_seen = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_pipe[1], "!", 1);
    errno = saved_errno;
}

}  // namespace

Interrupt::Interrupt() {
    BERTH_CHECK(wake_pipe[0] < 0, "one Interrupt at a time");
    BERTH_CHECK(::pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) == 0, "a pipe can be made");
    signals_seen = 0;
    struct sigaction action{};
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, &old_interrupt_);
    ::sigaction(SIGTERM, &action, &old_terminate_);
}

Interrupt::~Interrupt() {
    ::sigaction(SIGINT, &old_interrupt_, nullptr);
    ::sigaction(SIGTERM, &old_terminate_, nullptr);
    ::close(wake_pipe[0]);
    ::close(wake_pipe[1]);
    wake_pipe[0] = wake_pipe[1] = -1;
}

int Interrupt::descriptor() const { return wake_pipe[0]; }

bool Interrupt::has_come() const { return signals_seen != 0; }

void Interrupt::clear() {
    signals_seen = 0;
    char drained[64];
    while (::read(wake_pipe[0], drained, sizeof(drained)) > 0) {
    }
}

}  // namespace berth::cli
