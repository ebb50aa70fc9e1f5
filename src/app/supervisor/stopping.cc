// SPDX-License-Identifier: Apache-2.0
//
// How an attempt is asked to stop, and how it is ended when it does not.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "app/supervisor/processes/pause_signal.h"
#include "app/supervisor/processes/process_tree.h"
#include "app/supervisor/supervisor.h"
#include "supervision/processes.h"

namespace berth::supervisor {

using supervision::ExitReport;
using supervision::StopKind;
using supervision::StopRequest;

void Supervisor::stop(StopRequest request) {
    if (phase_ == Phase::Ended || serve_frozen(request)) return;
    // Where it is, it can do nothing more.
    if (std::exchange(hold_, Hold::None) == Hold::Frozen)
        return lose("it was ended while it was off its GPUs");
    const bool is_first = !stop_asked_;
    stop_asked_ = true;
    asked_to_pause_ = request.kind != StopKind::Cancel;
    if (phase_ == Phase::Waiting) return end(never_started());
    if (phase_ == Phase::Clearing) return;  // it ends when that is done
    const std::int64_t deadline = monotonic_ms() + std::max<std::int64_t>(0, request.grace_ms);
    stop_deadline_ = std::min(stop_deadline_.value_or(deadline), deadline);
    // From here on one deadline rules: what is left of the gang may use the whole grace to save.
    gang_deadline_ = leftover_deadline_ = {};

    int signal = SIGTERM;
    if (request.kind != StopKind::Cancel) {
        std::uint64_t caught = 0;
        if (order_.pause_signal == "auto") {
            for (const supervision::Process& process : supervision::descendants_of(::getpid()))
                caught |= supervision::caught_signals(process.pid);
        }
        signal = choose_pause_signal(order_.pause_signal, order_.environment, caught);
    }
    if (signal == kKillAtOnce || request.grace_ms <= 0) {
        killed_ = true;
        return kill_all();
    }
    if (is_first || signal != stop_signal_) ask_all(signal);
    stop_signal_ = signal;
    consider_end();  // its tasks may be gone already
}

void Supervisor::ask_all(int signal) {
    const std::vector<pid_t> handlers = ask_to_stop(::getpid(), signal);
    if (!stop_asked_) return;
    saving_.insert(saving_.end(), handlers.begin(), handlers.end());
    if (saving_.empty())
        stop_note_ = "the job does not handle SIG" + signal_name(signal) +
                     "; work since its last checkpoint is lost";
}

bool Supervisor::is_saving() {
    std::erase_if(saving_, [](pid_t pid) { return !supervision::is_living(pid); });
    return !saving_.empty();
}

void Supervisor::kill_all() {
    is_killing_ = true;
    // Repeated until the last one is reaped, ever more seldom: a process in the midst of a system
    // call of its driver may take long to die.
    constexpr std::int64_t kPauseMaxMs = 2'000;
    kill_pause_ms_ = std::min(2 * kill_pause_ms_, kPauseMaxMs);
    kill_again_ = monotonic_ms() + kill_pause_ms_;
    kill_descendants(::getpid());
}

ExitReport Supervisor::describe_end() const {
    ExitReport report = first_failure_.value_or(ExitReport{});
    report.stop_asked = stop_asked_;
    report.killed = killed_;
    if (!end_note_.empty()) {
        report.detail = end_note_;
    } else if (killed_) {
        report.detail = "did not stop within the grace and was killed";
    } else if (stop_asked_ && !stop_note_.empty()) {
        report.detail = stop_note_;
    }
    if (stop_asked_ && !refusal_.empty())
        report.detail =
            "no checkpoint: " + refusal_ + (report.detail.empty() ? "" : "; " + report.detail);
    if (!lent_note_.empty())
        report.detail = lent_note_ + (report.detail.empty() ? "" : ": " + report.detail);
    return report;
}

ExitReport Supervisor::never_started() {
    return {128 + SIGTERM, SIGTERM, true, false, "stopped before it was started"};
}

}  // namespace berth::supervisor
