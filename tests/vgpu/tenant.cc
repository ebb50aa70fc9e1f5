// SPDX-License-Identifier: Apache-2.0
#include "vgpu/tenant.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "vgpu/api.h"

namespace berth::test_vgpu {

Tenant::Tenant(const std::string& description, Kin kin) : kin_(kin) {
    cuda();  // so that the environment describes the GPUs
    int to[2] = {};
    int from[2] = {};
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
        if (kin == Kin::Stranger) {
            if (::fork() != 0) ::_exit(0);
            const pid_t own = ::getpid();
            if (::write(from[1], &own, sizeof own) != sizeof own) ::_exit(1);
        }
        ::dup2(to[0], STDIN_FILENO);
        ::dup2(from[1], STDOUT_FILENO);
        if (!description.empty()) ::setenv("BERTH_SOFTWARE_GPU", description.c_str(), 1);
        ::execl(BERTH_TENANT, BERTH_TENANT, nullptr);
        ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
    if (kin == Kin::Child) return;
    ::waitpid(pid_, nullptr, 0);
    if (::read(from_, &pid_, sizeof pid_) != sizeof pid_) std::abort();
}

Tenant::~Tenant() {
    kill();
    ::close(to_);
    ::close(from_);
}

void Tenant::tell(const std::string& command) const {
    const std::string line = command + "\n";
    if (::write(to_, line.data(), line.size()) < 0) std::perror("tenant");
}

std::string Tenant::hear() const {
    std::string line;
    char letter = 0;
    while (::read(from_, &letter, 1) == 1 && letter != '\n') line += letter;
    return line;
}

std::string Tenant::ask(const std::string& command) const {
    tell(command);
    return hear();
}

void Tenant::kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    if (kin_ == Kin::Child) ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
}

}  // namespace berth::test_vgpu
