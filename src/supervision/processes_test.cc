// SPDX-License-Identifier: Apache-2.0
#include "supervision/processes.h"

#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

using namespace berth::supervision;

namespace {

char state_of(pid_t pid) {
    std::ostringstream text;
    text << std::ifstream("/proc/" + std::to_string(pid) + "/stat").rdbuf();
    const std::string stat = text.str();
    return stat[stat.rfind(") ") + 2];
}

void* stay(void*) {
    while (true) ::pause();
}

}  // namespace

TEST_CASE("a process lives as long as one of its threads does") {
    const pid_t child = ::fork();
    if (child == 0) {
        pthread_t thread{};
        ::pthread_create(&thread, nullptr, stay, nullptr);
        ::syscall(SYS_exit, 0);  // this thread alone
    }
    while (state_of(child) != 'Z') ::usleep(1000);
    CHECK(is_living(child));
    CHECK_FALSE(is_leaving(child));
    CHECK(descendants_of(::getpid()).size() == 1);
    ::kill(child, SIGKILL);
    siginfo_t ended{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
    CHECK_FALSE(is_living(child));
    CHECK(is_leaving(child));
    CHECK(descendants_of(::getpid()).empty());
    ::waitpid(child, nullptr, 0);
    CHECK(is_leaving(child));
    CHECK_FALSE(is_leaving(::getpid()));
}

TEST_CASE("a process is named for good by its number and its start") {
    CHECK(start_of(::getpid()) > 0);
    CHECK(start_of(::getpid()) == start_of(::getpid()));
    CHECK(start_of(::getpid()) >= start_of(::getppid()));
    CHECK(start_of(0) == 0);
}
