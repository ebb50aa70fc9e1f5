// SPDX-License-Identifier: Apache-2.0
//
// How does time pass for the client on a server's loop? As the loop's timers have it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>

#include "kube/client/transport/timers.h"

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
        std::function<void()> then;
        std::optional<boost::asio::steady_timer> timer;  // none: it is due
    };

    void fire(Id id);

    boost::asio::io_context& loop_;
    const ports::Clock& clock_;
    std::map<Id, Started> timers_;
    Id last_ = 0;
    std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube::client
