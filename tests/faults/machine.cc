// SPDX-License-Identifier: Apache-2.0
#include "faults/machine.h"

#include <doctest/doctest.h>

namespace berth::tests {

void Machine::Connection::start(const ports::LaunchOrder& order) {
    const ports::AttemptId attempt = order.attempt;
    CAPTURE(attempt.job.value);
    CAPTURE(attempt.attempt);
    if (!machine_.runs_.contains(attempt)) {
        CHECK_FALSE(machine_.is_done(attempt.job));
        machine_.runs_.emplace(attempt, Run{});
    }
    tell_later(attempt);
}

void Machine::Connection::stop(ports::AttemptId attempt, ports::StopReason, base::Duration) {
    const auto run = machine_.runs_.find(attempt);
    if (run == machine_.runs_.end() || run->second.exit) return;
    run->second.exit = ports::AttemptExit{.stop_asked = true, .detail = {}};
    tell_later(attempt);
}

void Machine::Connection::recover(std::span<const ports::BegunAttempt> attempts) {
    for (const ports::BegunAttempt& attempt : attempts) tell_later(attempt.id);
}

void Machine::Connection::tell_later(ports::AttemptId attempt) { news_.push_back(attempt); }

bool Machine::Connection::tell() {
    for (const auto& [attempt, run] : machine_.runs_) {
        if (run.exit && !run.is_told) tell_later(attempt);
    }
    const bool has_news = !news_.empty();
    while (!news_.empty()) {
        const ports::AttemptId attempt = news_.front();
        news_.pop_front();
        const auto run = machine_.runs_.find(attempt);
        if (run == machine_.runs_.end()) {
            listener_->on_lost(attempt, std::string(ports::kNeverStarted));
        } else if (run->second.exit) {
            run->second.is_told = true;
            listener_->on_exit(attempt, *run->second.exit);
        } else {
            listener_->on_running(attempt);
        }
    }
    return has_news;
}

bool Machine::end(model::JobId job, int exit_code) {
    for (auto& [attempt, run] : runs_) {
        if (attempt.job != job || run.exit) continue;
        run.exit = ports::AttemptExit{.exit_code = exit_code, .detail = {}};
        done_[job] = exit_code;
        return true;
    }
    return false;
}

}  // namespace berth::tests
