// SPDX-License-Identifier: Apache-2.0
#include "attach/attach.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "attach/signals.h"
#include "attach/terminal.h"
#include "runtime/sockets.h"
#include "supervision/frame.h"

namespace berth::attach {
namespace {

using base::ErrorCode;
using supervision::Descriptor;
using supervision::Frame;
using supervision::FrameType;

std::int64_t monotonic_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1'000'000;
}

base::Result<Descriptor> connect_patiently(const std::string& socket, int patience_ms) {
    const std::int64_t deadline = monotonic_ms() + patience_ms;
    for (int pause_us = 500;; pause_us = std::min(2 * pause_us, 20'000)) {
        auto connected = runtime::connect_to(socket, runtime::SocketKind::Stream);
        const bool may_come = !connected && connected.error().code == ErrorCode::Unavailable;
        if (!may_come || monotonic_ms() >= deadline) return connected;
        ::usleep(static_cast<useconds_t>(pause_us));
    }
}

class Session {
  public:
    Session(Descriptor socket, const AttachOptions& options)
        : options_(options),
          socket_(std::move(socket)),
          signals_({SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGWINCH, SIGCONT}, {SIGPIPE}),
          terminal_(options.terminal ? options.input : -1) {}

    base::Result<AttachResult> run();

  private:
    void wait();
    void take_signals();
    void note_interrupt();
    void read_input();
    void receive();
    void handle(const Frame& frame);
    void write_output(int fd, std::string_view bytes, FrameType type);
    void send(FrameType type, std::string_view payload = {});
    void flush();
    void finish(AttachEnd end) {
        if (!result_) result_ = AttachResult{end, {}};
    }

    const AttachOptions& options_;
    Descriptor socket_;
    SignalCatcher signals_;
    RawTerminal terminal_;
    supervision::FrameReader reader_;
    std::string out_;
    std::size_t credit_ = supervision::kInputWindow;
    bool has_input_ = true;
    std::vector<std::int64_t> interrupts_;  // when, the last few
    std::optional<AttachResult> result_;
    std::optional<base::Error> refusal_;
};

base::Result<AttachResult> Session::run() {
    send(FrameType::Attach,
         pack(size_of_terminal(options_.input, options_.output, options_.error_output)));
    while (!result_ && !refusal_) wait();
    if (refusal_) return tl::unexpected(*refusal_);
    return *result_;
}

void Session::wait() {
    // No more input is read than the job has room for: Ctrl-C must not stand behind it.
    const bool wants_input = has_input_ && credit_ > 0 && out_.empty();
    pollfd polls[] = {
        {socket_.get(), static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT), 0},
        {signals_.fd(), POLLIN, 0},
        {wants_input ? options_.input : -1, POLLIN, 0},
    };
    if (::poll(polls, 3, -1) < 0 && errno != EINTR) return finish(AttachEnd::Lost);
    if (polls[1].revents != 0) take_signals();
    if ((polls[0].revents & POLLOUT) != 0) flush();
    if ((polls[0].revents & ~POLLOUT) != 0) receive();
    if (polls[2].revents != 0) read_input();
}

void Session::take_signals() {
    while (const std::optional<int> signal = signals_.next()) {
        switch (*signal) {
            case SIGHUP: return finish(AttachEnd::Detached);
            case SIGCONT: terminal_.renew(); [[fallthrough]];
            case SIGWINCH:
                send(FrameType::WindowSize, pack(size_of_terminal(options_.input, options_.output,
                                                                  options_.error_output)));
                break;
            default:
                send(FrameType::Signal, supervision::pack_number(*signal));
                if (*signal == SIGINT) note_interrupt();
        }
    }
}

void Session::note_interrupt() {
    constexpr std::int64_t kWithinMs = 1'000;
    const std::size_t enough = options_.terminal ? 3 : 2;
    const std::int64_t now = monotonic_ms();
    interrupts_.push_back(now);
    std::erase_if(interrupts_, [now](std::int64_t at) { return at + kWithinMs < now; });
    if (interrupts_.size() < enough || !options_.on_insistence) return;
    interrupts_.clear();
    options_.on_insistence();
}

void Session::read_input() {
    char buffer[16 * 1024];
    const ssize_t size = ::read(options_.input, buffer, std::min(sizeof buffer, credit_));
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size <= 0) {
        has_input_ = false;
        // A terminal that is gone takes the user with it; any other input has merely ended.
        if (options_.terminal) return finish(AttachEnd::Detached);
        return send(FrameType::InputEnd);
    }
    const std::string_view bytes(buffer, static_cast<std::size_t>(size));
    credit_ -= bytes.size();
    send(FrameType::Input, bytes);
    if (!options_.terminal) return;
    constexpr char kInterruptKey = 3;
    for (auto count = std::count(bytes.begin(), bytes.end(), kInterruptKey); count > 0; --count)
        note_interrupt();
}

void Session::receive() {
    char buffer[supervision::kStreamFrameMax];
    const ssize_t size = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size <= 0) return finish(AttachEnd::Lost);
    reader_.feed({buffer, static_cast<std::size_t>(size)});
    while (const std::optional<Frame> frame = reader_.next()) handle(*frame);
    if (reader_.is_broken()) finish(AttachEnd::Lost);
}

void Session::handle(const Frame& frame) {
    switch (frame.type) {
        case FrameType::Output:
            return write_output(options_.output, frame.payload, FrameType::Output);
        case FrameType::ErrorOutput:
            return write_output(options_.error_output, frame.payload, FrameType::ErrorOutput);
        case FrameType::InputTaken:
            if (const auto count = supervision::unpack_number(frame.payload); count && *count > 0)
                credit_ += static_cast<std::size_t>(*count);
            return;
        case FrameType::InputClosed:
            // A writer to our input shall learn it as from the command itself.
            if (has_input_ && !options_.terminal) ::close(options_.input);
            has_input_ = false;
            return;
        case FrameType::Exited:
            if (auto exit = supervision::parse_exit_line(frame.payload))
                result_ = AttachResult{AttachEnd::Exited, std::move(*exit)};
            return;
        case FrameType::Refused:
            refusal_ = base::Error{ErrorCode::Conflict, std::string(frame.payload)};
            return;
        default: return;  // a later supervisor may say more
    }
}

void Session::write_output(int fd, std::string_view bytes, FrameType type) {
    while (!bytes.empty()) {
        const ssize_t size = ::write(fd, bytes.data(), bytes.size());
        if (size >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(size));
        } else if (errno == EINTR) {
            take_signals();
            if (result_) return;
        } else if (errno == EAGAIN) {
            pollfd poll{fd, POLLOUT, 0};
            ::poll(&poll, 1, -1);
        } else {
            return send(FrameType::OutputClosed,
                        supervision::pack_number(type == FrameType::Output ? 1 : 2));
        }
    }
}

void Session::send(FrameType type, std::string_view payload) {
    supervision::append_frame(out_, type, payload);
    flush();
}

void Session::flush() {
    while (!out_.empty()) {
        const ssize_t size =
            ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) continue;
        // That the supervisor has gone is noticed where its last words are read.
        if (size < 0 && errno != EAGAIN) return out_.clear();
        if (size < 0) return;
        out_.erase(0, static_cast<std::size_t>(size));
    }
}

}  // namespace

base::Result<AttachResult> attach(const std::string& socket, const AttachOptions& options) {
    BERTH_TRY(connected, connect_patiently(socket, options.patience_ms));
    return Session(std::move(connected), options).run();
}

}  // namespace berth::attach
