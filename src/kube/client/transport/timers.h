// SPDX-License-Identifier: Apache-2.0
//
// When does something happen later? Time of the client: real on a server's loop (loop_timers.h),
// played in tests.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "ports/clock.h"

namespace berth::kube::client {

class Timers : public ports::Clock {
  public:
    using Id = std::uint64_t;  // never 0
    // Calls `then` once, when `wait` has passed and never before this returns.
    virtual Id start(base::Duration wait, std::function<void()> then) = 0;
    // From now on it is not called. One that has been is none.
    virtual void stop(Id id) = 0;
};

// One moment at a time, which is forgotten with it.
class Timer {
  public:
    explicit Timer(Timers& timers) : timers_(timers) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() { stop(); }

    void start(base::Duration wait, std::function<void()> then) {
        stop();
        id_ = timers_.start(wait, [this, call = std::move(then)] {
            id_ = 0;
            const auto mine = call;  // it may start this timer again, or end it
            mine();
        });
    }
    void stop() {
        if (id_ != 0) timers_.stop(std::exchange(id_, 0));
    }
    bool is_running() const { return id_ != 0; }

  private:
    Timers& timers_;
    Timers::Id id_ = 0;
};

}  // namespace berth::kube::client
