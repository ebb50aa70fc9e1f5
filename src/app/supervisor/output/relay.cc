// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/output/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace berth::supervisor {
namespace {

using supervision::Descriptor;
using supervision::FrameType;
using supervision::TerminalSize;

// Our end never blocks; the task's end is an ordinary pipe, as its programs expect.
std::string make_pipe(Descriptor& ours, Descriptor& theirs, bool we_read) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::string("cannot make a pipe: ") + strerror(errno);
    ours.reset(ends[we_read ? 0 : 1]);
    theirs.reset(ends[we_read ? 1 : 0]);
    ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
    return {};
}

void set_size(int terminal, TerminalSize size) {
    if (size.rows <= 0 || size.columns <= 0) return;
    winsize window{};
    window.ws_row = static_cast<unsigned short>(size.rows);
    window.ws_col = static_cast<unsigned short>(size.columns);
    ::ioctl(terminal, TIOCSWINSZ, &window);
}

}  // namespace

std::string Relay::open_pipes(int task, Descriptor log, TaskEnds& ends) {
    LogFile* kept = &logs_.emplace_back(std::move(log));
    Stream output{{}, FrameType::Output, task, kept};
    Stream errors{{}, FrameType::ErrorOutput, task, kept};
    std::string failure = make_pipe(output.source, ends.output, true);
    if (failure.empty()) failure = make_pipe(errors.source, ends.error_output, true);
    if (failure.empty() && task == 0) failure = make_pipe(input_, ends.input, false);
    if (!failure.empty()) return failure;
    if (task == 0 && input_ends_ && pending_input_.empty()) input_.reset();
    streams_.push_back(std::move(output));
    streams_.push_back(std::move(errors));
    return {};
}

std::string Relay::open_terminal(int task, Descriptor log, TerminalSize size, TaskEnds& ends) {
    Descriptor master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    char path[64];
    if (!master.is_open() || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0 ||
        ::ptsname_r(master.get(), path, sizeof path) != 0)
        return std::string("cannot make a terminal: ") + strerror(errno);
    set_size(master.get(), size);
    ends.terminal = path;
    ends.terminal_hold.reset(::open(path, O_RDWR | O_NOCTTY | O_CLOEXEC));
    terminal_ = master.get();
    LogFile* kept = &logs_.emplace_back(std::move(log));
    streams_.push_back({std::move(master), FrameType::Output, task, kept});
    return {};
}

int Relay::input_fd() const { return terminal_ >= 0 ? terminal_ : input_.get(); }

void Relay::collect(std::vector<pollfd>& polls, bool wants_output) const {
    for (const Stream& stream : streams_) {
        short events = 0;
        if (wants_output) events |= POLLIN;
        if (stream.source.get() == terminal_ && !pending_input_.empty()) events |= POLLOUT;
        // A negative descriptor is skipped: with nothing to wait for, a hang-up must not wake us.
        polls.push_back({events != 0 ? stream.source.get() : -1, events, 0});
    }
    // Without pending input this still reports that task 0 has closed its end.
    if (input_.is_open())
        polls.push_back(
            {input_.get(), static_cast<short>(pending_input_.empty() ? 0 : POLLOUT), 0});
}

void Relay::serve(const std::vector<pollfd>& polls, const Sink& sink) {
    for (const pollfd& poll : polls) {
        if (poll.fd < 0 || poll.revents == 0) continue;
        if (poll.fd == input_fd() && (poll.revents & POLLOUT) != 0) push_input();
        if (poll.fd == input_.get() && (poll.revents & POLLERR) != 0) drop_input();
        if ((poll.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
        for (Stream& stream : streams_) {
            if (stream.source.get() == poll.fd) pump(stream, sink);
        }
    }
    std::erase_if(streams_, [](const Stream& stream) { return !stream.source.is_open(); });
}

bool Relay::pump(Stream& stream, const Sink& sink) {
    char buffer[supervision::kStreamFrameMax];
    const ssize_t size = ::read(stream.source.get(), buffer, sizeof buffer);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (size <= 0) {  // the end of a terminal reads as EIO
        if (stream.source.get() == terminal_) terminal_ = -1;
        stream.source.reset();
        return false;
    }
    const std::string_view bytes(buffer, static_cast<std::size_t>(size));
    stream.log->write(bytes);
    if (sink) sink(stream.type, bytes, stream.task);
    return true;
}

void Relay::forget_tasks() {
    streams_.clear();
    logs_.clear();
    terminal_ = -1;
    input_.reset();
}

void Relay::drain(const Sink& sink) {
    for (Stream& stream : streams_) {
        while (stream.source.is_open() && pump(stream, sink)) {
        }
    }
    for (LogFile& log : logs_) log.write({});
    streams_.clear();
    terminal_ = -1;
    input_.reset();
}

bool Relay::has_output() const { return !streams_.empty(); }

void Relay::give_input(std::string_view bytes) {
    if (!takes_input_) return;
    pending_input_.append(bytes);
    if (input_fd() >= 0) push_input();
}

void Relay::end_input() {
    input_ends_ = true;
    if (pending_input_.empty()) input_.reset();
}

void Relay::push_input() {
    std::size_t taken = 0;
    while (taken < pending_input_.size()) {
        const ssize_t size =
            ::write(input_fd(), pending_input_.data() + taken, pending_input_.size() - taken);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno != EAGAIN) return drop_input();
        if (size <= 0) break;
        taken += static_cast<std::size_t>(size);
    }
    pending_input_.erase(0, taken);
    acknowledged_ += static_cast<std::int64_t>(taken);
    if (pending_input_.empty() && input_ends_) input_.reset();
}

void Relay::drop_input() {
    input_.reset();
    pending_input_.clear();
    input_closed_ = true;
    takes_input_ = false;
}

std::int64_t Relay::take_acknowledged() { return std::exchange(acknowledged_, 0); }

bool Relay::take_input_closed() { return std::exchange(input_closed_, false); }

void Relay::keep_logs(bool are_kept) {
    for (LogFile& log : logs_) log.keep(are_kept);
}

void Relay::resize(TerminalSize size) {
    if (terminal_ >= 0) set_size(terminal_, size);
}

void Relay::close_output(FrameType which) {
    for (Stream& stream : streams_) {
        if (stream.type != which) continue;
        if (stream.source.get() == terminal_) terminal_ = -1;
        stream.source.reset();
    }
    std::erase_if(streams_, [](const Stream& stream) { return !stream.source.is_open(); });
}

}  // namespace berth::supervisor
