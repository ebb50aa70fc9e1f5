// SPDX-License-Identifier: Apache-2.0
//
// berth-supervisor: forks a supervisor for every order that its server passes to it. One process
// is started once and forked for each attempt, because a fork of a small process costs a tenth of
// an exec. It ends with its server once the last of its supervisors has ended (brood.h).
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/supervisor/processes/brood.h"
#include "app/supervisor/supervisor.h"
#include "supervision/frame.h"
#include "supervision/mark.h"
#include "supervision/passing.h"
#include "supervision/shortage.h"
#include "vgpu/ledger/stay.h"

namespace {

using namespace berth;
using supervision::Descriptor;

std::string read_order(const Descriptor& file) {
    struct stat about{};
    if (::fstat(file.get(), &about) != 0 || about.st_size <= 0) return {};
    std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t size =
            ::pread(file.get(), bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
        if (size <= 0) return {};
        have += static_cast<std::size_t>(size);
    }
    return bytes;
}

// What ps shows, in the place that the server left for it.
void show_title(char* place, const supervision::Order& order) {
    if (place == nullptr) return;
    const std::size_t room = ::strlen(place);
    const std::string title = "job " + std::to_string(order.job) + '.' +
                              std::to_string(order.attempt) + ' ' + order.job_name;
    ::memset(place, 0, room);
    ::memcpy(place, title.data(), std::min(room, title.size()));
}

// Closing its files then tells the server that nothing was started.
void tell_shortage(const Descriptor& channel, int error) {
    std::string frame;
    supervision::append_frame(frame, supervision::FrameType::Waiting,
                              supervision::no_process(error));
    [[maybe_unused]] const ssize_t size =
        ::send(channel.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

[[noreturn]] void supervise(std::vector<Descriptor> files, char* title_place) {
    ::setsid();
    Descriptor& status = files[supervision::kPassedStatus];
    std::optional<supervision::Order> order =
        supervision::unpack_order(read_order(files[supervision::kPassedOrder]));
    files[supervision::kPassedOrder].reset();
    if (!order) {
        const std::string line = supervision::exit_line(
            {126, 0, false, false, "the server and berth-supervisor are of different versions"});
        [[maybe_unused]] const ssize_t size = ::write(status.get(), line.data(), line.size());
        ::_exit(0);
    }
    show_title(title_place, *order);
    ::prctl(PR_SET_NAME, vgpu::ledger::kSupervisorName);
    supervision::bear(supervision::mark_of({order->cluster, order->job, order->attempt}));
    supervisor::Supervisor(std::move(*order), std::move(status),
                           std::move(files[supervision::kPassedChannel]))
        .run();
    // Nothing is worth the time of an orderly exit.
    ::_exit(0);
}

// Readable when a child has ended. Taken before children are looked for, so that none is missed.
Descriptor ends_of_children() {
    sigset_t ends;
    ::sigemptyset(&ends);
    ::sigaddset(&ends, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &ends, nullptr);
    return Descriptor(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
}

void forget_signals(const Descriptor& signals) {
    signalfd_siginfo one;
    while (::read(signals.get(), &one, sizeof one) == sizeof one) continue;
}

}  // namespace

int main(int argc, char** argv) {
    if (::fcntl(supervision::kSpawnerDescriptor, F_SETFD, FD_CLOEXEC) != 0) {
        ::fputs("berth-supervisor is started by the berth server, not by hand\n", stderr);
        return 124;
    }
    Descriptor server(supervision::kSpawnerDescriptor);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    Descriptor children = ends_of_children();
    supervisor::Brood brood;
    while (true) {
        const int patience = brood.tend();
        if (!server.is_open() && brood.is_empty()) return 0;
        pollfd polls[] = {{server.get(), POLLIN, 0}, {children.get(), POLLIN, 0}};
        ::poll(polls, 2, patience);
        forget_signals(children);
        if (polls[0].revents == 0) continue;
        std::vector<Descriptor> files = supervision::receive_descriptors(server.get());
        if (files.empty()) server.reset();
        if (files.size() != supervision::kPassedCount) continue;
        const pid_t pid = ::fork();
        if (pid < 0) tell_shortage(files[supervision::kPassedChannel], errno);
        if (pid > 0) brood.add(pid, std::move(files[supervision::kPassedStatus]));
        if (pid != 0) continue;
        server.reset();
        children.reset();
        brood.forget();
        supervise(std::move(files), argc > 1 ? argv[1] : nullptr);
    }
}
