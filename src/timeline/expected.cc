// SPDX-License-Identifier: Apache-2.0
#include "timeline/expected.h"

#include <algorithm>

namespace berth::timeline {
namespace {

using model::Band;
using model::ExpectedSpan;
using model::JobState;

Band all_at(model::TimePoint moment) { return {moment, moment, moment}; }

// When it ends that starts then.
Band end_of(const Band& start, const model::RunTime& run) {
    if (run.evidence == model::Evidence::None) return {};
    const auto after = [](const auto& from, model::Duration time) {
        return from ? std::optional(*from + time) : std::nullopt;
    };
    return {after(start.optimistic, run.left / 2), after(start.expected, run.left),
            after(start.pessimistic, run.left * 2)};
}

}  // namespace

std::vector<ExpectedSpan> expected(const model::JobRecord& job,
                                   const std::optional<model::StartEstimate>& start,
                                   const model::RunTime& run, model::TimePoint now) {
    if (job.state == JobState::Starting || job.state == JobState::Running) {
        const Band end = end_of(all_at(now), run);
        if (!end.expected) return {};
        return {{JobState::Running, all_at(now), end}};
    }
    const bool waits = job.state == JobState::Queued || job.state == JobState::Paused;
    if (!waits || job.held || !start || !start->optimistic) return {};
    const auto later = [now](const auto& moment) {
        return moment ? std::optional(std::max(*moment, now)) : std::nullopt;
    };
    const Band begins{later(start->optimistic), later(start->expected), later(start->pessimistic)};
    return {{job.state, all_at(now), begins}, {JobState::Running, begins, end_of(begins, run)}};
}

}  // namespace berth::timeline
