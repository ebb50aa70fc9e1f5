// SPDX-License-Identifier: Apache-2.0
//
// How does time pass for the client on a server's loop? As the loop's timers have it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>

#include "kube/client/timers.h"

namespace berth::kube::client {

class LoopTimers final : public Timers {
  public:
    // `clock` says how much time has passed: one that is never set.
    LoopTimers(boost::asio::io_context& loop, const ports::Clock& clock)
        : loop_(loop), clock_(clock) {}

    base::TimePoint now() const override { return clock_.now(); }
    Id start(base::Duration wait, std::function<void()> then) override;
    void stop(Id id) override { timers_.erase(id); }

  private:
    struct Started {
        boost::asio::steady_timer timer;
        std::function<void()> then;
    };

    boost::asio::io_context& loop_;
    const ports::Clock& clock_;
    std::map<Id, std::unique_ptr<Started>> timers_;
    Id last_ = 0;
};

}  // namespace berth::kube::client
