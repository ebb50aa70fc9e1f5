// SPDX-License-Identifier: Apache-2.0
//
// Who listens to an attempt, and what they say: the server that started it or a later one, and at
// most one attached client.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>

#include "app/supervisor/supervisor.h"
#include "runtime/sockets.h"

namespace berth::supervisor {

using supervision::Descriptor;
using supervision::Frame;
using supervision::FrameType;

namespace {

// More than this waiting for a client, and its job's output is no longer read.
constexpr std::size_t kClientBacklogMax = 256 * 1024;
constexpr std::size_t kPeersMax = 16;
// Where it cannot listen, as on a full disk, it tries again so soon.
constexpr std::int64_t kListenAgainMs = 200;

// Set by signal handlers; these signals are only let in while poll() sleeps.
volatile sig_atomic_t child_ended = 0;
volatile sig_atomic_t machine_stops = 0;

void on_child(int) { child_ended = 1; }
void on_terminate(int) { machine_stops = 1; }

}  // namespace

sigset_t take_signals() {
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGCHLD);
    ::sigaddset(&blocked, SIGTERM);
    sigset_t before;
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    struct sigaction action{};
    action.sa_handler = on_child;
    ::sigaction(SIGCHLD, &action, nullptr);
    action.sa_handler = on_terminate;
    ::sigaction(SIGTERM, &action, nullptr);
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &action, nullptr);
    ::sigdelset(&before, SIGCHLD);
    ::sigdelset(&before, SIGTERM);
    return before;
}

namespace {

timespec until(std::int64_t deadline) {
    const std::int64_t left = std::max<std::int64_t>(0, deadline - monotonic_ms());
    return {left / 1000, (left % 1000) * 1'000'000};
}

}  // namespace

void Supervisor::wait_and_serve() {
    std::vector<pollfd> polls;
    for (const Connection& peer : peers_)
        polls.push_back(
            {peer.fd(), static_cast<short>(peer.backlog() > 0 ? POLLIN | POLLOUT : POLLIN), 0});
    const std::size_t listener_at = polls.size();
    polls.push_back({listening_.fd(), POLLIN, 0});
    const std::size_t arbiter_at = polls.size();
    polls.push_back({arbiter_.get(), POLLIN, 0});
    const std::size_t relay_at = polls.size();
    relay_.collect(polls, wants_output());

    std::optional<std::int64_t> deadline;
    for (const auto& candidate :
         {attach_deadline_, look_deadline_, stop_deadline_, stall_deadline_, gang_deadline_,
          leftover_deadline_, kill_again_, freezer_deadline_, ask_again_, reach_again_,
          listen_again_, write_again_}) {
        if (candidate) deadline = std::min(deadline.value_or(*candidate), *candidate);
    }
    const timespec wait = deadline ? until(*deadline) : timespec{};
    const int count = ::ppoll(polls.data(), polls.size(), deadline ? &wait : nullptr, &sleep_mask_);

    if (count > 0) {
        std::size_t at = 0;
        for (Connection& peer : peers_) {
            if (polls[at++].revents != 0) serve(peer);
        }
        if (polls[listener_at].revents != 0) accept_peer();
        if (polls[arbiter_at].revents != 0) serve_arbiter();
        const std::vector<pollfd> relayed(polls.begin() + static_cast<std::ptrdiff_t>(relay_at),
                                          polls.end());
        relay_.serve(relayed, sink());
    }
    if (std::exchange(child_ended, 0) != 0) reap();
    if (std::exchange(machine_stops, 0) != 0)
        stop({supervision::StopKind::Restart, order_.grace_ms});
    on_deadline();
    if (Connection* peer = client()) {
        if (const std::int64_t taken = relay_.take_acknowledged(); taken > 0)
            peer->send(FrameType::InputTaken, supervision::pack_number(taken));
        if (relay_.take_input_closed()) peer->send(FrameType::InputClosed);
        if (!peer->flush()) peer->lose();
    }
    drop_lost_peers();
}

// A client that does not read holds up the job, as a terminal would; but one that is asked to save
// must not lose its grace to a client that has stopped reading.
bool Supervisor::wants_output() {
    constexpr std::int64_t kStallMaxMs = 2'000;
    if (client() == nullptr || client()->backlog() < kClientBacklogMax) {
        stall_deadline_.reset();
        return true;
    }
    if (stop_asked_ && !stall_deadline_) stall_deadline_ = monotonic_ms() + kStallMaxMs;
    return false;
}

void Supervisor::accept_peer() {
    Descriptor socket(::accept4(listening_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open() || peers_.size() >= kPeersMax) return;
    if (!runtime::is_peer_trusted(socket.get())) return;
    peers_.emplace_back(std::move(socket), Role::Unknown);
}

void Supervisor::serve(Connection& peer) {
    if (!peer.flush() || !peer.receive()) peer.lose();
    // What arrived before the peer left still counts: a server may ask to stop and die.
    while (std::optional<Frame> frame = peer.next_frame()) handle(peer, *frame);
    if (!peer.flush()) peer.lose();
}

void Supervisor::handle(Connection& peer, const Frame& frame) {
    switch (frame.type) {
        case FrameType::Watch:
            peer.become(Role::Server);
            if (!lack_.empty()) peer.send(FrameType::Waiting, lack_);
            if (hold_ == Hold::Frozen && !is_lent_) peer.send(FrameType::Frozen, frozen_);
            if (hold_ == Hold::Frozen && is_waking_) peer.send(FrameType::Waking);
            if (was_running_ && ((hold_ != Hold::Frozen && hold_ != Hold::Thawing) || is_lent_))
                peer.send(FrameType::Running, supervision::pack_number(::getpid()));
            if (phase_ == Phase::Ended) peer.send(FrameType::Exited, exit_text_);
            return;
        case FrameType::Stop:
            if (const auto request = supervision::unpack_stop(frame.payload)) stop(*request);
            return;
        case FrameType::Resume:
            if (auto place = supervision::unpack_gpu_lists(frame.payload))
                resume(std::move(*place));
            return;
        case FrameType::Park: return park();
        case FrameType::Note: return note(std::string(frame.payload));
        case FrameType::FreezerAnswer:
            if (peer.role() != Role::Freezer) return;
            peer.close_after_flush();
            if (const auto answer = supervision::unpack_answer(frame.payload)) take_answer(*answer);
            return;
        case FrameType::Attach:
            if (const auto size = supervision::unpack_size(frame.payload)) attach(peer, *size);
            return;
        default: break;
    }
    if (peer.role() != Role::Client) return;
    switch (frame.type) {
        case FrameType::Input: relay_.give_input(frame.payload); return;
        case FrameType::InputEnd: relay_.end_input(); return;
        case FrameType::WindowSize:
            if (const auto size = supervision::unpack_size(frame.payload)) relay_.resize(*size);
            return;
        case FrameType::Signal:
            if (const auto signal = supervision::unpack_number(frame.payload)) {
                for (const Task& task : tasks_) {
                    if (task.is_running) ::kill(-task.pid, static_cast<int>(*signal));
                }
            }
            return;
        case FrameType::OutputClosed:
            if (const auto which = supervision::unpack_number(frame.payload))
                relay_.close_output(*which == 2 ? FrameType::ErrorOutput : FrameType::Output);
            return;
        default: return;
    }
}

void Supervisor::attach(Connection& peer, supervision::TerminalSize size) {
    std::string reason;
    if (!order_.attached) {
        reason = "job " + std::to_string(order_.job) + " was not started to be attached to";
    } else if (client() != nullptr && client() != &peer) {
        reason = "another client is attached to job " + std::to_string(order_.job);
    }
    if (!reason.empty()) {
        peer.send(FrameType::Refused, reason);
        peer.close_after_flush();
        return;
    }
    peer.become(Role::Client);
    terminal_size_ = size;
    relay_.resize(size);
    if (phase_ == Phase::Ended) return peer.send(FrameType::Exited, exit_text_);
    if (phase_ == Phase::Waiting) start_tasks();
}

void Supervisor::drop_lost_peers() {
    bool lost_client = false;
    bool lost_freezer = false;
    bool lost_server = false;
    std::erase_if(peers_, [&](const Connection& peer) {
        const bool goes = peer.is_lost() || (peer.is_closing() && peer.backlog() == 0);
        lost_client |= goes && peer.role() == Role::Client;
        lost_server |= goes && peer.role() == Role::Server;
        lost_freezer |= goes && peer.role() == Role::Freezer;
        return goes;
    });
    // A shell on a terminal waits for its user to come back; a pipe has lost its writer for good.
    if (lost_client && !order_.terminal) relay_.end_input();
    if (lost_server && phase_ != Phase::Ended) listen();
    // Before it has answered: its successor goes on from there.
    if (lost_freezer && freezer_deadline_ && !ask_again_) ask_again_ = monotonic_ms();
}

void Supervisor::listen() {
    listen_again_.reset();
    if (!listening_.open()) listen_again_ = monotonic_ms() + kListenAgainMs;
}

Connection* Supervisor::client() {
    for (Connection& peer : peers_) {
        if (peer.role() == Role::Client && !peer.is_lost()) return &peer;
    }
    return nullptr;
}

Relay::Sink Supervisor::sink() {
    Connection* peer = client();
    if (peer == nullptr) return {};
    return
        [peer](FrameType type, std::string_view bytes, int task) { peer->send(type, bytes, task); };
}

void Supervisor::tell(Role role, FrameType type, std::string_view payload) {
    for (Connection& peer : peers_) {
        if (peer.role() != role || peer.is_lost()) continue;
        peer.send(type, payload);
        if (!peer.flush()) peer.lose();
    }
}

void Supervisor::write_status(std::string_view line) {
    status_.add(line);
    write_status_more();
}

void Supervisor::write_status_more() {
    constexpr std::int64_t kPauseMs = 100;
    status_.write_more();
    write_again_.reset();
    if (!status_.are_written()) write_again_ = monotonic_ms() + kPauseMs;
}

}  // namespace berth::supervisor
