// SPDX-License-Identifier: Apache-2.0
//
// How long will this job still run, and what is that known from? An expectation, for forecasts
// only: no decision looks at it. The first of these that says more than it has run:
//   declared   what its user said
//   learned    the mean of kLearnedFrom or more ended jobs of its project and name
//   so far     as long again as it has run, from kSaysSomething on
// Else nothing is known: then `left` is the mean of fewer, or what it has run, or kUnknownRunTime.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "model/answer/start_estimate.h"
#include "model/record.h"

namespace berth::lifecycle {

inline constexpr model::Duration kUnknownRunTime{3600 * 1000};
inline constexpr model::Duration kShortestRunTime{1000};
inline constexpr model::Duration kSaysSomething{10 * 60 * 1000};
inline constexpr std::int64_t kLearnedFrom = 3;

class RunTimes {
  public:
    // Learns from a job that has ended; only those that succeeded say how long the work takes.
    void learn(const model::JobRecord& ended);
    // Counted from `now` when it runs, else from its next start. At least kShortestRunTime.
    model::RunTime left(const model::JobRecord& job, model::TimePoint now) const;

  private:
    struct Sum {
        std::int64_t total_ms = 0;
        std::int64_t count = 0;
    };
    std::map<std::pair<std::string, std::string>, Sum> known_;  // by project and name
};

}  // namespace berth::lifecycle
