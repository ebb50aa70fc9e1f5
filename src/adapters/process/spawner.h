// SPDX-License-Identifier: Apache-2.0
//
// Where do supervisors come from? From one berth-supervisor process that this server starts once
// and that forks for every attempt: the server pays for a message, not for a process. When the
// spawner was killed the next attempt starts another; an order that was with it comes back by
// itself, because its files are closed.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "supervision/descriptor.h"
#include "supervision/order.h"

namespace berth::process {

class Spawner {
  public:
    explicit Spawner(std::string program) : program_(std::move(program)) {}
    // Its supervisors go on, and the spawner ends after the last of them.
    ~Spawner();
    Spawner(const Spawner&) = delete;
    Spawner& operator=(const Spawner&) = delete;

    // Answers our end of a socket to the new supervisor. `status_fd` is its locked status file.
    // Errors: Unavailable (the program cannot be run, or does not answer), Exhausted.
    base::Result<supervision::Descriptor> spawn(const supervision::Order& order, int status_fd);

    // Where a user has stopped it, it goes on.
    void wake() const;

  private:
    base::Status begin();
    void end();

    std::string program_;
    supervision::Descriptor socket_;
    pid_t pid_ = -1;
};

}  // namespace berth::process
