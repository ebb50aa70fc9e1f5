// SPDX-License-Identifier: Apache-2.0
//
// How long will this job still run? An expectation, for forecasts only: no decision looks at it.
//   it has ended before   the mean of the ended jobs of its project and name, less what it has run
//   it runs, or has run   as long again as it has run
//   nothing is known      kUnknownRunTime
// A job that has outlived its mean is taken for one that is half done.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "model/record.h"

namespace berth::lifecycle {

inline constexpr model::Duration kUnknownRunTime{3600 * 1000};
inline constexpr model::Duration kShortestRunTime{1000};

class RunTimes {
  public:
    // Learns from a job that has ended; only those that succeeded say how long the work takes.
    void learn(const model::JobRecord& ended);
    // Counted from `now` when it runs, else from its next start. At least kShortestRunTime.
    model::Duration left(const model::JobRecord& job, model::TimePoint now) const;

  private:
    struct Sum {
        std::int64_t total_ms = 0;
        std::int64_t count = 0;
    };
    std::map<std::pair<std::string, std::string>, Sum> known_;  // by project and name
};

}  // namespace berth::lifecycle
