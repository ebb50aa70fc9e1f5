// SPDX-License-Identifier: Apache-2.0
#include "overview/job_sentence.h"

#include <algorithm>

namespace berth::overview {
namespace {

using model::Duration;
using model::JobState;
using model::TimePoint;

constexpr Duration kSecond{1'000};
constexpr Duration kMinute{60'000};
constexpr Duration kHour{3'600'000};
constexpr Duration kDay{24 * 3'600'000};

// "42 s", "3 h 12 min": two units at most, and one where the second says little.
std::string spoken(Duration time) {
    const auto in = [&](Duration large, const char* unit, Duration small, const char* small_unit) {
        const std::int64_t rest = time % large / small;
        std::string text = std::to_string(time / large) + " " + unit;
        return rest == 0 ? text : text + " " + std::to_string(rest) + " " + small_unit;
    };
    if (time < kSecond) return "less than 1 s";
    if (time < kMinute) return std::to_string(time / kSecond) + " s";
    if (time < 10 * kMinute) return in(kMinute, "min", kSecond, "s");
    if (time < kHour) return std::to_string(time / kMinute) + " min";
    if (time < kDay) return in(kHour, "h", kMinute, "min");
    return in(kDay, "d", kHour, "h");
}

// What an estimate is worth: minutes below an hour, five of them below six hours, else thirty.
Duration rounded(Duration time) {
    if (time < kMinute) return time < kSecond ? Duration{0} : kMinute;
    const Duration step = time < kHour ? kMinute : time < 6 * kHour ? 5 * kMinute : 30 * kMinute;
    return (time + step / 2) / step * step;
}

// " in about 30 min (20 min to 1 h)"; empty where it is not known.
std::string in_about(const model::Band& band, TimePoint now) {
    if (!band.optimistic) return "";
    const auto away = [now](TimePoint moment) {
        return rounded(std::max(moment - now, Duration{0}));
    };
    const auto text = [](Duration time) {
        return time == Duration{0} ? std::string("now") : spoken(time);
    };
    if (!band.expected) return " in " + text(away(*band.optimistic)) + " at the earliest";
    const Duration first = away(*band.optimistic);
    const Duration expected = away(*band.expected);
    const std::string when = expected == Duration{0} ? " now" : " in about " + text(expected);
    if (!band.pessimistic) return when + " (" + text(first) + " or later)";
    const Duration last = away(*band.pessimistic);
    if (first == last) return when;
    return when + " (" + text(first) + " to " + text(last) + ")";
}

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
    return text + "; it is " + (warning.act == model::IdleAct::Park ? "parked in " : "ended in ") +
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
    return text + (left >= kSecond ? ", for which it has " + spoken(left)
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
