// SPDX-License-Identifier: Apache-2.0
//
// How does one wait for a job? By a first look, then long polls, across restarts of the server:
// while it does not answer, the wait goes on for kServerPatience and says so once.
#pragma once

#include <functional>

#include "cli/client/client.h"
#include "cli/terminal/interrupt.h"

namespace berth::cli {

inline constexpr base::Duration kServerPatience{60'000};

struct WaitGoal {
    const char* until = "final";                      // of the long poll: running, final, change
    std::function<bool(const model::JobRecord&)> is_reached;   // asked after each answer
    base::TimePoint deadline = base::TimePoint::max();
    base::Duration poll{30'000};                      // how long one long poll may take
    std::function<void(const JobAnswer&)> on_news = {}; // sees each answer
};

// Errors: kDetached when interrupted, kWaitLimit at the deadline, and what the server refuses.
Outcome<JobAnswer> wait_for(Client& client, model::JobId id, const WaitGoal& goal);

// The exit code that stands for a job that has ended, and a notice on standard error when that
// code does not tell the whole truth.
int answer_for(const Context& context, const model::JobRecord& job);

}  // namespace berth::cli
