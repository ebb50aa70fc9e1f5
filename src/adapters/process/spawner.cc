// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "supervision/passing.h"
#include "supervision/shortage.h"

namespace berth::process {
namespace {

using base::ErrorCode;
using supervision::Descriptor;

tl::unexpected<base::Error> system_failure(ErrorCode code, const std::string& what, int error) {
    return base::fail(code, what + ": " + ::strerror(error));
}

base::Result<Descriptor> write_order(const supervision::Order& order) {
    Descriptor file(::memfd_create("berth-order", MFD_CLOEXEC));
    if (!file.is_open()) return system_failure(ErrorCode::Exhausted, "memfd_create", errno);
    const std::string bytes = pack(order);
    if (::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        return system_failure(ErrorCode::Exhausted, "cannot hand over the order", errno);
    return file;
}

base::Status make_pair(Descriptor& ours, Descriptor& theirs, int flags) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0, ends) != 0)
        return system_failure(ErrorCode::Exhausted, "socketpair", errno);
    ours.reset(ends[0]);
    theirs.reset(ends[1]);
    return {};
}

// Answers 0 or an error number.
int run_program(const std::string& program, int socket, pid_t& pid) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, socket, supervision::kSpawnerDescriptor);
    for (int target = 0; target < 3; ++target)
        ::posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0);
    // Libraries in the server may have opened files that would leak into every job.
    ::posix_spawn_file_actions_addclosefrom_np(&actions, supervision::kSpawnerDescriptor + 1);

    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::string name = "berth-supervisor";
    std::string title_place = "spawner" + std::string(57, ' ');
    char* const arguments[] = {name.data(), title_place.data(), nullptr};
    char* const environment[] = {nullptr};
    const int error =
        ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments, environment);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return error;
}

}  // namespace

// It still forks for the orders that are with it, and stays for their supervisors' sake.
Spawner::~Spawner() {
    socket_.reset();
    if (pid_ > 0) ::waitpid(pid_, nullptr, WNOHANG);
}

base::Result<Descriptor> Spawner::spawn(const supervision::Order& order, int status_fd) {
    BERTH_TRY(file, write_order(order));
    Descriptor channel;
    Descriptor theirs;
    BERTH_TRY_VOID(make_pair(channel, theirs, SOCK_NONBLOCK));
    const std::vector<int> files = {status_fd, theirs.get(), file.get()};
    int error = EPIPE;
    for (int tries = 0; tries < 2; ++tries) {
        if (!socket_.is_open()) BERTH_TRY_VOID(begin());
        if (supervision::pass_descriptors(socket_.get(), files)) return channel;
        error = errno;
        end();  // it was killed, or hangs; another may do better
    }
    return system_failure(ErrorCode::Unavailable, "berth-supervisor takes no orders", error);
}

void Spawner::wake() const {
    if (pid_ > 0) ::kill(pid_, SIGCONT);
}

base::Status Spawner::begin() {
    Descriptor theirs;
    BERTH_TRY_VOID(make_pair(socket_, theirs, 0));
    // It takes an order in some fifty microseconds; one that does not for seconds is broken.
    const timeval patience{5, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    // Above the number it gets there, so that dup2 leaves it open beyond exec.
    theirs.reset(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, supervision::kSpawnerDescriptor + 1));
    if (const int error = run_program(program_, theirs.get(), pid_); error != 0) {
        socket_.reset();
        pid_ = -1;
        if (supervision::is_shortage(error))
            return base::fail(ErrorCode::Exhausted, supervision::no_process(error));
        return system_failure(ErrorCode::Unavailable, "cannot run \"" + program_ + '"', error);
    }
    return {};
}

void Spawner::end() {
    socket_.reset();
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

}  // namespace berth::process
