// SPDX-License-Identifier: Apache-2.0
//
// Do jobs use their GPUs? Looked at again and again, the more often the shorter the time is after
// which a rule acts (lifecycle/idle/idle_rule.h), beside the thread that decides.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <vector>

#include "control/controller.h"
#include "control/gpu_use/use_watch.h"
#include "ports/background.h"

namespace berth {

class GpuWatch {
  public:
    struct Parts {
        control::Controller& controller;
        ports::GpuInventory& inventory;
        const ports::Clock& clock;
        std::function<std::vector<ports::ShareUse>()> share_uses;
        ports::Background in_background;
    };
    // Begins at once.
    GpuWatch(boost::asio::io_context& loop, Parts parts);

  private:
    void wait();
    void look();

    Parts parts_;
    boost::asio::steady_timer timer_;
    control::UseWatch watch_;
};

}  // namespace berth
