// SPDX-License-Identifier: Apache-2.0
#include "overview/job_sentence.h"

#include <algorithm>

#include "overview/spoken_time.h"

namespace berth::overview {
namespace {

using model::Duration;
using model::JobState;
using model::TimePoint;

std::string since(std::optional<TimePoint> moment, TimePoint now) {
    return spoken(std::max(now - moment.value_or(now), Duration{0}));
}

// What it is expected to do next, from the span that runs.
std::string next_start(const std::vector<model::ExpectedSpan>& expected, const char* verb,
                       TimePoint now) {
    const std::string when = expected.size() < 2 ? "" : in_about(expected[1].from, now);
    if (when.empty()) return std::string("; when it ") + verb + " is not known";
    return std::string(" and ") + verb + when;
}

std::string waiting(const model::JobRecord& job, const std::vector<model::ExpectedSpan>& expected,
                    Chance chance, TimePoint now) {
    const bool is_paused = job.state == JobState::Paused;
    const auto left = job.last_pause && is_paused ? job.last_pause->stopped : std::nullopt;
    const std::string age = since(is_paused && left ? *left : job.waiting_since, now);
    if (chance == Chance::Never) return " can never run as it is asked";
    if (job.held) {
        return std::string(is_paused ? " has been paused for " : " has been on hold for ") + age +
               ", until a user resumes it";
    }
    if (job.parked_since)
        return " has been parked for " + since(job.parked_since, now) +
               ", until it makes a call to its GPUs";
    if (is_paused) return " has been paused for " + age + next_start(expected, "resumes", now);
    return " has waited for " + age + next_start(expected, "starts", now);
}

std::string idle(const model::IdleWarning& warning, TimePoint now) {
    const std::string text = " runs and has not used its GPUs for " + since(warning.since, now);
    if (!warning.acts_at) return text;
    return text + "; it is " + std::string(done(warning.act)) + " in " +
           spoken(std::max(*warning.acts_at - now, Duration{0})) + " unless it does";
}

std::string running(const model::JobRecord& job, const std::vector<model::ExpectedSpan>& expected,
                    TimePoint now) {
    const std::string age = since(job.last_start, now);
    if (job.state == JobState::Starting) return " has been starting for " + age;
    if (job.idle) return idle(*job.idle, now);
    const std::string when = expected.empty() ? "" : in_about(expected[0].to, now);
    if (when.empty()) return " has run for " + age + "; when it ends is not known";
    return " has run for " + age + " and ends" + when;
}

std::string leaving(const model::JobRecord& job, TimePoint now) {
    const bool is_paused = job.state == JobState::Pausing;
    std::string text = is_paused ? " is asked to save and pause" : " is asked to stop";
    if (!is_paused || !job.last_pause) return text;
    const Duration left = job.last_pause->deadline - now;
    return text + (left >= Duration{1'000} ? ", for which it has " + spoken(left)
                                           : std::string(", and its time for that is over"));
}

std::string ended(const model::JobRecord& job, TimePoint now) {
    const std::string ago = " " + since(job.finished, now) + " ago";
    const std::string after =
        job.first_start ? ", " + spoken(std::max(*job.finished - *job.first_start, Duration{0})) +
                              " after its first start"
                        : ", before it had started";
    if (job.state == JobState::Succeeded) return " succeeded" + ago + after;
    if (job.state == JobState::Cancelled) return " was cancelled" + ago + after;
    return " failed" + ago + " with exit code " + std::to_string(job.exit_code) + after;
}

}  // namespace

std::string job_sentence(const model::JobRecord& job,
                         const std::vector<model::ExpectedSpan>& expected, Chance chance,
                         TimePoint now) {
    const std::string name =
        job.spec.name.empty() ? "Job " + std::to_string(job.id.value) : job.spec.name;
    const auto rest = [&]() -> std::string {
        switch (job.state) {
            case JobState::Queued:
            case JobState::Paused: return waiting(job, expected, chance, now);
            case JobState::Starting:
            case JobState::Running: return running(job, expected, now);
            case JobState::Pausing:
            case JobState::Cancelling: return leaving(job, now);
            case JobState::Succeeded:
            case JobState::Failed:
            case JobState::Cancelled: return ended(job, now);
        }
        return "";
    };
    return name + rest() + ".";
}

}  // namespace berth::overview
