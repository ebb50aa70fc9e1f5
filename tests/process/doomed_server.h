// SPDX-License-Identifier: Apache-2.0
//
// Another process that plays the server until it is killed.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <utility>

#include "process/world.h"

namespace berth::process_test {

class DoomedServer {
  public:
    DoomedServer(const std::string& data_dir, const std::vector<ports::LaunchOrder>& orders,
                 const std::function<void(World&)>& then = {}) {
        pid_ = ::fork();
        if (pid_ != 0) return;
        World world(data_dir);
        for (const ports::LaunchOrder& order : orders) world.start(order);
        for (const ports::LaunchOrder& order : orders) world.until_running(order.attempt);
        if (then) then(world);
        world.until([] { return false; });
        ::_exit(0);
    }
    ~DoomedServer() { kill(); }
    DoomedServer(const DoomedServer&) = delete;
    DoomedServer& operator=(const DoomedServer&) = delete;

    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    }

  private:
    pid_t pid_ = -1;
};

}  // namespace berth::process_test
