// SPDX-License-Identifier: Apache-2.0
//
// A Launcher that runs nothing: it notes what it was asked and lets the test tell what happened.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "ports/launcher.h"

namespace berth::tests {

class RecordingLauncher final : public ports::Launcher {
  public:
    struct Stop {
        ports::AttemptId attempt;
        ports::StopReason reason;
        base::Duration grace;
    };

    void set_listener(ports::LauncherListener* listener) override { listener_ = listener; }
    void start(const ports::LaunchOrder& order) override {
        if (on_order) on_order();
        starts.push_back(order);
    }
    void resume(const ports::LaunchOrder& order) override {
        if (on_order) on_order();
        resumes.push_back(order);
    }
    model::PauseWay pause_way(ports::AttemptId) const override { return way; }
    void stop(ports::AttemptId attempt, ports::StopReason reason, base::Duration grace) override {
        if (on_order) on_order();
        stops.push_back({attempt, reason, grace});
    }
    void park(ports::AttemptId attempt) override { parks.push_back(attempt); }
    void resize(const ports::BegunAttempt& attempt) override { resizes.push_back(attempt); }
    base::Status narrow(const ports::BegunAttempt& attempt) override {
        narrowed.push_back(attempt);
        return why_not_narrow ? base::Status(tl::unexpected(*why_not_narrow)) : base::Status{};
    }
    void note(ports::AttemptId attempt, const std::string& text) override {
        notes.emplace_back(attempt, text);
    }
    void recover(std::span<const ports::BegunAttempt> attempts) override {
        recovered.clear();
        for (const ports::BegunAttempt& attempt : attempts) recovered.push_back(attempt.id);
    }

    // How often the attempt was started.
    std::ptrdiff_t starts_of(ports::AttemptId attempt) const {
        return std::ranges::count(starts, attempt, &ports::LaunchOrder::attempt);
    }
    ports::LauncherListener& listener() { return *listener_; }

    std::vector<ports::LaunchOrder> starts;
    std::vector<ports::LaunchOrder> resumes;
    model::PauseWay way;  // of every attempt
    std::vector<Stop> stops;
    std::vector<ports::AttemptId> parks;
    std::vector<ports::BegunAttempt> resizes;
    std::vector<ports::BegunAttempt> narrowed;  // asked, and let unless:
    std::optional<base::Error> why_not_narrow;
    std::vector<std::pair<ports::AttemptId, std::string>> notes;
    std::vector<ports::AttemptId> recovered;
    std::function<void()> on_order;  // called at every start and stop

  private:
    ports::LauncherListener* listener_ = nullptr;
};

}  // namespace berth::tests
