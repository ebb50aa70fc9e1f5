// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/simulate_progress.h"

#include <utility>

#include "cli/command_line/context.h"

namespace berth::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLines{250};
constexpr const char* kEmptyLine = "\r\x1b[K";

}  // namespace

std::string progress_text(const std::string& policy, const simulation::Progress& progress,
                          std::size_t jobs) {
    return policy + ": " + std::to_string(progress.finished) + " of " + std::to_string(jobs) +
           (jobs == 1 ? " job" : " jobs") + " finished, " +
           base::format(progress.at.time_since_epoch()) + " simulated";
}

ProgressLine::ProgressLine(const Style& style, std::string policy, const simulation::Trace& trace)
    : style_(style), policy_(std::move(policy)), trace_(trace) {}

simulation::OnProgress ProgressLine::shown() {
    if (!style_.is_terminal) return {};
    return [this](const simulation::Progress& progress) {
        if (is_due(Clock::now())) show(progress);
    };
}

bool ProgressLine::is_due(Clock::time_point now) {
    if (now < next_) return false;
    next_ = now + kBetweenLines;
    return true;
}

void ProgressLine::show(const simulation::Progress& progress) {
    const simulation::Progress since{progress.finished,
                                     base::TimePoint{progress.at - trace_.front().submitted}};
    const std::string text = printable(progress_text(policy_, since, trace_.size()));
    print_notice(kEmptyLine + truncated(text, style_.width - 1, style_.glyphs().ellipsis));
    is_shown_ = true;
}

void ProgressLine::clear() {
    if (is_shown_) print_notice(kEmptyLine);
    is_shown_ = false;
}

}  // namespace berth::cli
