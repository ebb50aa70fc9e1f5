// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/proof/owners.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace berth::gpu_shares {
namespace {

const ports::AttemptId kJob{base::JobId{7}, 1};

// A process a number of generations below this one, until it is killed.
class Descendant {
  public:
    explicit Descendant(int generations) {
        int there[2];
        REQUIRE(::pipe(there) == 0);
        first_ = ::fork();
        if (first_ == 0) be_parent_of(generations - 1, there[1]);
        REQUIRE(::read(there[0], &pid_, sizeof pid_) == sizeof pid_);
        ::close(there[0]);
        ::close(there[1]);
    }
    ~Descendant() {
        ::kill(pid_, SIGKILL);
        ::waitpid(first_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }

  private:
    [[noreturn]] static void be_parent_of(int generations, int pipe) {
        for (; generations > 0; --generations) {
            const pid_t child = ::fork();
            if (child == 0) continue;
            ::waitpid(child, nullptr, 0);
            ::_exit(0);
        }
        const pid_t self = ::getpid();
        [[maybe_unused]] const ssize_t size = ::write(pipe, &self, sizeof self);
        while (true) ::pause();
    }

    pid_t first_ = 0;
    pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("a process is of the attempt whose supervisor it is below, however far") {
    Owners owners;
    owners.look({{::getpid(), kJob}});
    for (const int generations : {1, 2, 300}) {
        const Descendant process(generations);
        CHECK(owners.of(process.pid()) == kJob);
    }
    CHECK_FALSE(owners.of(::getpid()));
    CHECK_FALSE(owners.of(::getppid()));
    CHECK_FALSE(owners.of(1));
}

TEST_CASE("the nearest supervisor that is known is a process's owner") {
    const Descendant inner(1);
    const ports::AttemptId other{base::JobId{8}, 2};
    Owners owners;
    owners.look({{::getpid(), kJob}, {::getppid(), other}});
    CHECK(owners.of(inner.pid()) == kJob);
}

TEST_CASE("an owner is remembered from look to look, and for that process only") {
    const Descendant process(1);
    Owners owners;
    owners.look({{::getpid(), kJob}});
    CHECK(owners.of(process.pid()) == kJob);
    owners.look({});
    CHECK(owners.of(process.pid()) == kJob);
    owners.look({});
    owners.look({});
    CHECK_FALSE(owners.of(process.pid()));
}

}  // namespace berth::gpu_shares
