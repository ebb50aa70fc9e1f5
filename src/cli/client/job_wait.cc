// SPDX-License-Identifier: Apache-2.0
#include "cli/client/job_wait.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <thread>

#include "cli/terminal/time_text.h"

namespace berth::cli {
namespace {

constexpr base::Duration kRetryPause{250};

bool is_no_answer(const Failure& failure) { return failure.exit_code == kServerUnreachable; }

std::string signal_name(int signal) {
    const char* name = ::sigabbrev_np(signal);
    return name ? "signal " + std::string(name) : "signal " + std::to_string(signal);
}

void notice(const Context& context, const model::JobRecord& job, const std::string& text) {
    const std::string title = "job " + std::to_string(job.id.value);
    print_notice(context.err.paint(Tone::Bad, "berth:") + " " + title + " " + printable(text) +
                 "\n");
}

}  // namespace

Outcome<JobAnswer> wait_for(Client& client, model::JobId id, const WaitGoal& goal) {
    std::optional<base::TimePoint> silent_since;
    for (base::Duration poll{0};; poll = goal.poll) {  // looks at once, then waits
        const base::TimePoint now = clock_now();
        const base::Duration left = goal.deadline - now;
        const base::Duration slice = std::clamp(left, base::Duration{0}, poll);
        const auto job = client.wait_for_job(
            id,
            {.until = goal.until, .since = 0, .at_most = silent_since ? base::Duration{0} : slice});
        if (job) {
            silent_since.reset();
            if (goal.on_news) goal.on_news(*job);
            if (goal.is_reached(job->job)) return job;
            if (left.count() <= 0) return refuse(kWaitLimit, "the time to wait is over");
            continue;
        }
        if (!is_no_answer(job.error())) return job;
        if (!silent_since) {
            silent_since = now;
            print_notice("berth: the server does not answer, waiting for it; the job continues\n");
        }
        if (now - *silent_since > kServerPatience || left.count() <= 0) return job;
        std::this_thread::sleep_for(kRetryPause);
    }
}

int answer_for(const Context& context, const model::JobRecord& record) {
    if (record.state == model::JobState::Cancelled) {
        notice(context, record, "was cancelled");
        return kJobCancelled;
    }
    const int code = exit_code_of_job(record.exit_code);
    if (code == kJobAbove99) {
        const bool by_signal = record.exit_code > 128 && record.exit_code <= 128 + 64;
        std::string text = "ended with exit code " + std::to_string(record.exit_code);
        if (!record.detail.empty()) {
            text += ": " + record.detail;
        } else if (by_signal) {
            text += " (" + signal_name(record.exit_code - 128) + ")";
        }
        notice(context, record, text);
    }
    return code;
}

}  // namespace berth::cli
