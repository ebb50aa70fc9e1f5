// SPDX-License-Identifier: Apache-2.0
#include "adapters/simulated_launcher/simulated_launcher.h"

#include <boost/asio/post.hpp>
#include <vector>

namespace berth::adapters::simulated_launcher {

namespace asio = boost::asio;

SimulatedLauncher::SimulatedLauncher(asio::io_context& loop, base::Duration run_time)
    : loop_(loop), run_time_(run_time), timer_(loop), alive_(std::make_shared<bool>(true)) {}

SimulatedLauncher::~SimulatedLauncher() { *alive_ = false; }

void SimulatedLauncher::start(const ports::LaunchOrder& order) {
    const ports::AttemptId id = order.attempt;
    const auto [place, is_new] = ends_.emplace(id, Clock::now() + run_time_);
    if (!is_new) return;
    const bool is_next = by_time_.empty() || place->second < by_time_.begin()->first;
    by_time_.emplace(place->second, id);
    if (is_next) wait_for_next();
    asio::post(loop_, [this, alive = alive_, id] {
        if (*alive && listener_ != nullptr && ends_.contains(id)) listener_->on_running(id);
    });
}

void SimulatedLauncher::stop(ports::AttemptId attempt, ports::StopReason, base::Duration) {
    asio::post(loop_, [this, alive = alive_, attempt] {
        if (*alive) end(attempt, true);
    });
}

void SimulatedLauncher::recover(std::span<const ports::BegunAttempt> attempts) {
    std::vector<ports::AttemptId> lost;
    for (const ports::BegunAttempt& attempt : attempts) lost.push_back(attempt.id);
    asio::post(loop_, [this, alive = alive_, lost] {
        if (!*alive || listener_ == nullptr) return;
        for (const ports::AttemptId id : lost) {
            listener_->on_lost(id, "simulated jobs end with their server");
        }
    });
}

void SimulatedLauncher::end(ports::AttemptId attempt, bool stop_asked) {
    const auto found = ends_.find(attempt);
    if (found == ends_.end()) return;
    by_time_.erase({found->second, attempt});
    ends_.erase(found);
    if (listener_ != nullptr) listener_->on_exit(attempt, {.stop_asked = stop_asked, .detail = {}});
}

void SimulatedLauncher::end_due() {
    const Clock::time_point now = Clock::now();
    while (!by_time_.empty() && by_time_.begin()->first <= now)
        end(by_time_.begin()->second, false);
    wait_for_next();
}

void SimulatedLauncher::wait_for_next() {
    if (by_time_.empty()) return;
    timer_.expires_at(by_time_.begin()->first);
    timer_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
        if (*alive && !error) end_due();
    });
}

}  // namespace berth::adapters::simulated_launcher
