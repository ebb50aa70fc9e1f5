// SPDX-License-Identifier: Apache-2.0
#include "supervision/mark.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

using namespace berth::supervision;

TEST_CASE("a mark is kept over a new session, an empty environment and another program") {
    const std::uint64_t mark = mark_of({"c1", 7, 2});
    int there[2];
    REQUIRE(::pipe(there) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        bear(mark);
        ::dup2(there[1], STDOUT_FILENO);
        ::execl("/usr/bin/setsid", "setsid", "env", "-i", "sh", "-c", "echo; exec sleep 100",
                nullptr);
        ::_exit(127);
    }
    char byte = 0;
    REQUIRE(::read(there[0], &byte, 1) == 1);
    CHECK(bears(child, mark));
    CHECK_FALSE(bears(child, mark_of({"c1", 7, 3})));
    CHECK_FALSE(bears(::getpid(), mark));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK_FALSE(bears(child, mark));
    ::close(there[0]);
    ::close(there[1]);
}

TEST_CASE("a supervisor below another one marks its own") {
    const pid_t child = ::fork();
    if (child == 0) {
        const std::uint64_t mark = mark_of({"inner", 1, 1});
        bear(mark_of({"outer", 9, 1}));
        bear(mark);
        ::_exit(bears(::getpid(), mark) ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST_CASE("every attempt has a mark of its own, which is no limit that anybody would set") {
    CHECK(mark_of({"c1", 7, 2}) == mark_of({"c1", 7, 2}));
    CHECK(mark_of({"c1", 7, 2}) != mark_of({"c2", 7, 2}));
    CHECK(mark_of({"c1", 7, 2}) != mark_of({"c1", 72, 1}));
    for (std::int64_t job = 1; job < 1000; ++job) {
        CHECK(mark_of({"c1", job, 1}) >= std::uint64_t{1} << 61);
        CHECK(mark_of({"c1", job, 1}) < std::uint64_t{1} << 62);
    }
}
