// SPDX-License-Identifier: Apache-2.0
//
// Which jobs have ended lately? The newest, for those who ask again and again: reading them takes
// milliseconds of the time of decisions, so what is known is kept for a while.
#pragma once

#include <optional>
#include <vector>

#include "ports/store.h"

namespace berth::api {

inline constexpr int kEndedJobsMax = 1'000;

class EndedJobs {
  public:
    explicit EndedJobs(ports::Store& store) : store_(store) {}

    // kEndedJobsMax at most, and none is missing that ended more than `age` ago. Valid until the
    // next call. Errors: Unavailable (the log cannot be read).
    base::Result<const std::vector<model::JobRecord>*> newest(base::TimePoint now,
                                                              base::Duration age) {
        if (!read_ || now < *read_ || now - *read_ >= age) {
            BERTH_TRY(jobs, store_.finished_jobs({.project = {}, .limit = kEndedJobsMax}));
            jobs_ = std::move(jobs);
            read_ = now;
        }
        return &jobs_;
    }

  private:
    ports::Store& store_;
    std::optional<base::TimePoint> read_;
    std::vector<model::JobRecord> jobs_;
};

}  // namespace berth::api
