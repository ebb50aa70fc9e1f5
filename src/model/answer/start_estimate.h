// SPDX-License-Identifier: Apache-2.0
//
// When will a waiting job start, and what is that known from? Made by
// scheduling/explain/forecast.h.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "model/node/node.h"

namespace berth::model {

using base::JobId;

// What is known of the time a job still runs.
enum class Evidence : std::uint8_t {
    Certain,   // nothing is asked of it: only time must pass
    Declared,  // its user said how long a run takes
    Learned,   // jobs of its project and name have ended
    SoFar,     // nothing but how long it has run
    None,      // nothing: it has run for minutes, or not at all
};

struct RunTime {
    Duration left{0};
    Duration has_run{0};
    Evidence evidence = Evidence::None;
};

// No time = not before `until`. Each is a forecast of its own: run times halved, as expected,
// doubled. Without evidence there are no times.
struct StartEstimate {
    std::optional<TimePoint> optimistic;
    std::optional<TimePoint> expected;
    std::optional<TimePoint> pessimistic;
    TimePoint until;  // how far the forecast looked
    JobId after = {};  // the job at whose end it starts; none where only time must pass
    Duration has_run{0};  // of that job
    Evidence evidence = Evidence::Certain;  // of that job's end

    bool operator==(const StartEstimate&) const = default;
};

}  // namespace berth::model
