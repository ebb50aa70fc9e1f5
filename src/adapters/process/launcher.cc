// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/launcher.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fstream>

#include "adapters/process/attempt_files.h"
#include "adapters/process/insistence.h"
#include "adapters/process/leftovers.h"
#include "crash/crash_point.h"
#include "runtime/sockets.h"
#include "supervision/address.h"
#include "supervision/frame.h"
#include "supervision/freezing.h"

namespace berth::process {

namespace asio = boost::asio;
using asio::local::stream_protocol;
using ports::AttemptExit;
using ports::AttemptId;
using supervision::Descriptor;
using supervision::FrameType;

namespace {

supervision::StopKind kind_of(ports::StopReason reason) {
    switch (reason) {
        case ports::StopReason::Pause: return supervision::StopKind::Pause;
        case ports::StopReason::Restart: return supervision::StopKind::Restart;
        case ports::StopReason::Cancel: return supervision::StopKind::Cancel;
    }
    return supervision::StopKind::Cancel;
}

Machine machine_of(const ProcessLauncherOptions& options) {
    Machine machine{options.cluster,   options.runtime, options.data_dir + "/jobs", {},
                    options.log_limit, options.umask,   options.gpu_counters};
    std::ifstream("/proc/sys/kernel/random/boot_id") >> machine.boot;
    return machine;
}

}  // namespace

struct ProcessLauncher::Attempt {
    Attempt(asio::io_context& loop, const ports::BegunAttempt& begun)
        : id(begun.id), log(begun.log), socket(loop), timer(loop), patience(loop) {}

    AttemptId id;
    std::string log;
    stream_protocol::socket socket;
    asio::steady_timer timer;            // until the next look at one that cannot be reached yet
    std::chrono::milliseconds pause{1};
    asio::steady_timer patience;         // until one that was asked to stop is looked at
    bool is_cancelled = false;
    bool waits_for_room = false;  // nothing of it was started yet
    std::string lack;                    // of the machine, for which it was not
    bool is_running_reported = false;
    pid_t supervisor = 0;                // 0 = not known yet
    std::string pending;                 // to be sent as soon as there is a connection
    std::size_t sent = 0;                // of that, on this connection
    bool is_sending = false;
    supervision::FrameReader reader;
    std::array<char, 1024> inbox;
};

ProcessLauncher::ProcessLauncher(asio::io_context& loop, ProcessLauncherOptions options)
    : loop_(loop),
      machine_(machine_of(options)),
      spawner_(std::move(options.supervisor)),
      alive_(std::make_shared<bool>(true)) {
    ::mkdir(machine_.jobs_dir.c_str(), 0700);
}

ProcessLauncher::~ProcessLauncher() {
    *alive_ = false;
    // The loop may live on and with it the reads under way; supervisors shall know we are gone.
    boost::system::error_code ignored;
    for (const auto& [id, attempt] : attempts_) attempt->socket.close(ignored);
}

ProcessLauncher::AttemptRef ProcessLauncher::add(const ports::BegunAttempt& begun) {
    AttemptRef& attempt = attempts_[begun.id];
    attempt = std::make_shared<Attempt>(loop_, begun);
    return attempt;
}

std::string ProcessLauncher::socket_path(AttemptId id) const {
    return machine_.runtime + '/' + supervision::attempt_socket(id.job.value, id.attempt);
}

void ProcessLauncher::start(const ports::LaunchOrder& order) {
    if (attempts_.contains(order.attempt)) return;
    try_to_start(order, add({order.attempt, order.log}));
}

void ProcessLauncher::try_to_start(const ports::LaunchOrder& order, const AttemptRef& attempt) {
    const base::Status spawned = spawn(order, *attempt);
    if (spawned) return read_more(attempt);
    if (spawned.error().code == base::ErrorCode::Exhausted) {
        attempt->lack = spawned.error().message;
        return wait_for_room(attempt, [this, order, attempt] { try_to_start(order, attempt); });
    }
    asio::post(loop_, [this, alive = alive_, attempt, error = spawned.error()] {
        if (!*alive) return;
        if (error.code == base::ErrorCode::Exists) return look(attempt);
        report_exit(attempt, {126, 0, false, false, error.message});
    });
}

void ProcessLauncher::wait_for_room(const AttemptRef& attempt, std::function<void()> then) {
    constexpr std::chrono::seconds kPause{1};
    attempt->waits_for_room = true;
    attempt->timer.expires_after(kPause);
    attempt->timer.async_wait(
        [this, alive = alive_, attempt, then](const boost::system::error_code& error) {
            if (!*alive) return;
            if (error) return report_lost(attempt, std::string(ports::kNeverStarted));
            attempt->waits_for_room = false;
            then();
        });
}

base::Status ProcessLauncher::spawn(const ports::LaunchOrder& order, Attempt& attempt) {
    BERTH_TRY(status, create_status(machine_.jobs_dir, {order.attempt, order.log}));
    crash::crash_point("before-spawn");
    auto spawned = spawner_.spawn(make_order(machine_, order), status.get());
    if (!spawned) {
        if (spawned.error().code == base::ErrorCode::Exhausted)
            return tl::unexpected(spawned.error());
        const std::string line =
            supervision::exit_line({126, 0, false, false, spawned.error().message});
        [[maybe_unused]] const ssize_t size = ::write(status.get(), line.data(), line.size());
        return tl::unexpected(spawned.error());
    }
    crash::crash_point("after-spawn");
    boost::system::error_code error;
    attempt.socket.assign(stream_protocol(), spawned->release(), error);
    return {};
}

void ProcessLauncher::stop(AttemptId id, ports::StopReason reason, base::Duration grace) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end()) return;  // it has ended, and that was reported
    if (found->second->waits_for_room) {
        found->second->timer.cancel();
        return;
    }
    const supervision::StopRequest request{kind_of(reason), grace.count()};
    supervision::append_frame(found->second->pending, FrameType::Stop, pack(request));
    send_pending(found->second);
    // A supervisor may let a job that still saves have this much more than its grace.
    constexpr base::Duration kMoreTime{21'000};
    constexpr base::Duration kAnswer{500};
    constexpr base::Duration kGraceMax{3'600'000};
    const bool is_cancel = reason == ports::StopReason::Cancel;
    found->second->is_cancelled |= is_cancel;
    insist(found->second, std::min(grace, kGraceMax) + (is_cancel ? kAnswer : kMoreTime));
}

// A user may have stopped its supervisor (SIGSTOP), or its spawner: they are woken at once. One
// that stands still at the end of its time all the same is killed, as is a cancelled one that
// cannot be reached; what is below it dies with it, or is killed by its spawner or us.
void ProcessLauncher::insist(const AttemptRef& attempt, base::Duration patience) {
    static constexpr base::Duration kAgain{500};
    spawner_.wake();
    wake_supervisor(machine_.jobs_dir, attempt->id);
    attempt->patience.expires_after(patience);
    attempt->patience.async_wait(
        [this, alive = alive_, attempt](const boost::system::error_code& error) {
            if (error || !*alive) return;
            const bool cannot_be_asked = attempt->is_cancelled && !attempt->socket.is_open();
            kill_supervisor(machine_.jobs_dir, attempt->id,
                            cannot_be_asked ? Only::Anyhow : Only::IfStopped);
            insist(attempt, kAgain);
        });
}

void ProcessLauncher::resume(const ports::LaunchOrder& order) {
    const auto found = attempts_.find(order.attempt);
    if (found == attempts_.end()) return;  // it has ended, and that was reported
    supervision::GpuLists lists;
    for (supervision::TaskOrder& task : make_order(machine_, order).tasks)
        lists.push_back(std::move(task.gpu_indices));
    found->second->is_running_reported = false;
    supervision::append_frame(found->second->pending, FrameType::Resume, supervision::pack(lists));
    send_pending(found->second);
}

void ProcessLauncher::park(AttemptId id) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end()) return;  // it has ended, and that was reported
    supervision::append_frame(found->second->pending, FrameType::Park);
    send_pending(found->second);
}

void ProcessLauncher::note(AttemptId id, const std::string& text) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end()) return;  // it has ended, and that was reported
    supervision::append_frame(found->second->pending, FrameType::Note, text);
    send_pending(found->second);
}

pid_t ProcessLauncher::process_above(AttemptId id) const {
    const auto found = attempts_.find(id);
    return found == attempts_.end() ? 0 : found->second->supervisor;
}

std::string ProcessLauncher::waits_for(AttemptId id) const {
    const auto found = attempts_.find(id);
    return found == attempts_.end() ? "" : found->second->lack;
}

model::PauseWay ProcessLauncher::pause_way(AttemptId) const {
    return {model::PauseRung::Signal, "this launcher has no GPUs"};
}

void ProcessLauncher::send_pending(const AttemptRef& attempt) {
    if (attempt->pending.empty() || !attempt->socket.is_open()) return;
    // That a peer has gone is noticed by read_more.
    const std::string_view rest = std::string_view(attempt->pending).substr(attempt->sent);
    const ssize_t size =
        ::send(attempt->socket.native_handle(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (size > 0) attempt->sent += static_cast<std::size_t>(size);
    if (attempt->sent == attempt->pending.size()) {
        attempt->pending.clear();
        attempt->sent = 0;
    }
    if (attempt->pending.empty() || attempt->is_sending) return;
    attempt->is_sending = true;  // the rest, when there is room
    attempt->socket.async_wait(stream_protocol::socket::wait_write,
                               [this, alive = alive_, attempt](const auto& error) {
                                   if (!*alive) return;
                                   attempt->is_sending = false;
                                   if (!error) send_pending(attempt);
                               });
}

void ProcessLauncher::recover(std::span<const ports::BegunAttempt> attempts) {
    for (const ports::BegunAttempt& begun : attempts) {
        if (attempts_.contains(begun.id)) continue;
        asio::post(loop_, [this, alive = alive_, attempt = add(begun)] {
            if (*alive) look(attempt);
        });
    }
}

void ProcessLauncher::read_more(const AttemptRef& attempt) {
    attempt->socket.async_read_some(
        asio::buffer(attempt->inbox),
        [this, alive = alive_, attempt](const boost::system::error_code& error, std::size_t size) {
            if (!*alive || !attempt->socket.is_open()) return;
            if (!error) return on_bytes(attempt, size);
            // It ended without a word: what it wrote down says how.
            boost::system::error_code ignored;
            attempt->socket.close(ignored);
            attempt->reader = {};
            attempt->sent = 0;
            look(attempt);
        });
}

void ProcessLauncher::on_bytes(const AttemptRef& attempt, std::size_t size) {
    attempt->reader.feed({attempt->inbox.data(), size});
    while (const std::optional<supervision::Frame> frame = attempt->reader.next()) {
        if (frame->type == FrameType::Running && !attempt->is_running_reported) {
            attempt->is_running_reported = true;
            attempt->lack.clear();
            if (const auto pid = supervision::unpack_number(frame->payload))
                attempt->supervisor = static_cast<pid_t>(*pid);
            if (listener_ != nullptr) listener_->on_running(attempt->id);
        } else if (frame->type == FrameType::Waiting) {
            attempt->lack = frame->payload;
        } else if (frame->type == FrameType::Saved) {
            if (listener_ != nullptr) listener_->on_saved(attempt->id);
        } else if (frame->type == FrameType::Frozen) {
            attempt->patience.cancel();  // that was its answer
            const auto answer = supervision::unpack_answer(frame->payload);
            if (answer && listener_ != nullptr)
                listener_->on_frozen(attempt->id, {{answer->bytes}, base::Duration{answer->ms}});
        } else if (frame->type == FrameType::Idle) {
            const auto idle_ms = supervision::unpack_number(frame->payload);
            if (idle_ms && listener_ != nullptr)
                listener_->on_idle(attempt->id, base::Duration{*idle_ms});
        } else if (frame->type == FrameType::Waking) {
            if (listener_ != nullptr) listener_->on_waking(attempt->id);
        } else if (frame->type == FrameType::Exited) {
            if (const auto exit = supervision::parse_exit_line(frame->payload))
                return report_exit(attempt, {exit->exit_code, exit->signal, exit->stop_asked,
                                             exit->killed, exit->detail});
        }
    }
    read_more(attempt);
}

// Asks the disk what has become of an attempt that we have no connection to.
void ProcessLauncher::look(const AttemptRef& attempt) {
    const AttemptState state = read_attempt(machine_.jobs_dir, {attempt->id, attempt->log});
    if (state.is_supervised) {
        auto socket = runtime::connect_to(socket_path(attempt->id), runtime::SocketKind::Stream);
        return socket ? take_up(attempt, std::move(*socket)) : look_later(attempt);
    }
    if (const auto& exit = state.status.exit)
        return report_exit(attempt, {exit->exit_code, exit->signal, exit->stop_asked, exit->killed,
                                     exit->detail, state.age});
    if (!state.status.started) {
        const auto tell = [this, attempt] {
            report_lost(attempt, std::string(ports::kNeverStarted));
        };
        // It is ordered again as soon as the server hears of it.
        return attempt->lack.empty() ? tell() : wait_for_room(attempt, tell);
    }
    if (state.status.boot != machine_.boot)
        return report_lost(attempt, "the machine was restarted");
    if (kill_leftovers(machine_.cluster, attempt->id) > 0) return look_later(attempt);
    report_lost(attempt, "its supervisor was killed");
}

// Between losing its server and listening, and between its last words and its end, a supervisor
// lives but cannot be reached: both take it well under a millisecond. One that was killed cannot be
// either, until the last of its processes is gone.
void ProcessLauncher::look_later(const AttemptRef& attempt) {
    constexpr std::chrono::milliseconds kPauseMax{250};
    attempt->timer.expires_after(attempt->pause);
    attempt->pause = std::min(2 * attempt->pause, kPauseMax);
    attempt->timer.async_wait(
        [this, alive = alive_, attempt](const boost::system::error_code& error) {
            if (*alive && !error) look(attempt);
        });
}

void ProcessLauncher::take_up(const AttemptRef& attempt, Descriptor socket) {
    boost::system::error_code error;
    attempt->socket.assign(stream_protocol(), socket.release(), error);
    attempt->pause = std::chrono::milliseconds(1);
    std::string watch;
    supervision::append_frame(watch, FrameType::Watch);
    ::send(attempt->socket.native_handle(), watch.data(), watch.size(), MSG_NOSIGNAL);
    send_pending(attempt);
    read_more(attempt);
}

void ProcessLauncher::report_exit(const AttemptRef& attempt, const AttemptExit& exit) {
    crash::crash_point("before-exit-report");
    finish(attempt);
    if (listener_ != nullptr) listener_->on_exit(attempt->id, exit);
}

void ProcessLauncher::report_lost(const AttemptRef& attempt, const std::string& detail) {
    ::unlink(socket_path(attempt->id).c_str());  // its supervisor could not
    finish(attempt);
    if (listener_ != nullptr) listener_->on_lost(attempt->id, detail);
}

void ProcessLauncher::finish(const AttemptRef& attempt) {
    boost::system::error_code ignored;
    attempt->socket.close(ignored);
    attempt->patience.cancel();
    attempts_.erase(attempt->id);
}

}  // namespace berth::process
