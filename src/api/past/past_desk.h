// SPDX-License-Identifier: Apache-2.0
//
// What has a job been through, and who took GPUs from whom? Its events are folded when it is first
// asked for, a part of them at a time, and kept: the next time only what has happened since is
// read.
//
// Cost: at most kEventsAtOnce events read for each call, kJobsKept jobs remembered; a job that is
// not asked about costs nothing. Of takings the last kEventsLookedAt events of the log are read
// when they are first asked for, and later what has happened since. docs/adr/0045.
#pragma once

#include <list>

#include "ports/store.h"
#include "timeline/receipts.h"
#include "timeline/spans.h"
#include "timeline/takings.h"

namespace berth::api {

inline constexpr std::int64_t kEventsAtOnce = 1'000;
inline constexpr std::size_t kJobsKept = 64;
inline constexpr std::int64_t kEventsLookedAt = 50'000;

struct Past {
    timeline::Spans spans;
    timeline::Receipts receipts;
};

class PastDesk {
  public:
    explicit PastDesk(ports::Store& store) : store_(store) {}

    // Reads on, up to the event `last`. Null while there is more to be read: then it is called
    // again. Valid until the next call. Errors: Unavailable (the log cannot be read).
    base::Result<const Past*> read_on(model::JobId job, std::int64_t last = kNoEnd);
    // The same for takings; `last` is the sequence of the newest event.
    base::Result<const timeline::Takings*> read_takings(std::int64_t last);
    // The event behind which takings were looked for; 0 = none is before it.
    std::int64_t takings_after() const { return takings_after_; }

  private:
    static constexpr std::int64_t kNoEnd = INT64_MAX;

    struct Known {
        model::JobId job;
        std::int64_t last = kNoEnd;  // what came later is not in it
        std::int64_t read_to = 0;  // the sequence of its last event that was read
        Past past;
    };
    Known& known(model::JobId job, std::int64_t last);

    ports::Store& store_;
    std::list<Known> known_;  // the job that was asked about last is in front
    timeline::Takings takings_;
    std::int64_t takings_after_ = -1;  // not asked for yet
    std::int64_t takings_read_to_ = 0;
};

}  // namespace berth::api
