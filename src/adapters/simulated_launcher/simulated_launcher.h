// SPDX-License-Identifier: Apache-2.0
//
// How would the server do if processes cost nothing? Attempts run for a fixed time and end with
// code 0; asked to stop, they end at once and count as saved. Nothing of this survives the server:
// after a restart every attempt is lost and waits again.
// No callback from within a call; all on the thread that runs the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <set>

#include "ports/launcher.h"

namespace berth::adapters::simulated_launcher {

class SimulatedLauncher final : public ports::Launcher {
  public:
    SimulatedLauncher(boost::asio::io_context& loop, base::Duration run_time);
    ~SimulatedLauncher() override;

    void set_listener(ports::LauncherListener* listener) override { listener_ = listener; }
    void start(const ports::LaunchOrder& order) override;
    void resume(const ports::LaunchOrder&) override {}  // none is ever frozen
    model::PauseWay pause_way(ports::AttemptId) const override { return {}; }
    void stop(ports::AttemptId attempt, ports::StopReason reason, base::Duration grace) override;
    void recover(std::span<const ports::BegunAttempt> attempts) override;

  private:
    using Clock = std::chrono::steady_clock;

    void end(ports::AttemptId attempt, bool stop_asked);
    void end_due();
    void wait_for_next();

    boost::asio::io_context& loop_;
    base::Duration run_time_;
    ports::LauncherListener* listener_ = nullptr;
    boost::asio::steady_timer timer_;
    std::map<ports::AttemptId, Clock::time_point> ends_;
    std::set<std::pair<Clock::time_point, ports::AttemptId>> by_time_;
    std::shared_ptr<bool> alive_;
};

}  // namespace berth::adapters::simulated_launcher
