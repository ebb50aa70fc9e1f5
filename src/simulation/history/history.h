// SPDX-License-Identifier: Apache-2.0
//
// What does the log of a server say that can be played again? The jobs of some days with the times
// that they really ran, and what happened to the cluster and its rules.
//
// A job that was there before is submitted as the days begin, those that had GPUs a moment before
// the others. It runs as long as it did in these days, without what pauses destroyed; one that
// still runs, as long as so far. An elastic one is of the size that it had on average. What no
// scheduler decides is left out: that a user put it on hold, that it was parked.
//
// The days begin with the log where that is younger.
//
// Trusts: events of one log, in order, from the first on. Cost: of an event O(tasks of its job).
#pragma once

#include <map>
#include <vector>

#include "simulation/core/core_replay.h"
#include "timeline/spans.h"

namespace berth::simulation {

struct History {
    TimePoint from;
    TimePoint to;
    std::vector<model::EventBody> before;  // of the cluster and its rules, up to `from`
    std::vector<ClusterChange> changes;  // later
    Trace jobs;
    // What became of them; without time on hold or parked, and without GPUs by number.
    Replay really;
    std::int64_t never_ran = 0;  // jobs that are left out
    // As it was here on average; where no job started, or none was paused, as by CoreExperiment.
    Duration restart_cost = std::chrono::seconds(60);
    Duration save_time = std::chrono::seconds(30);
};

class HistoryReader {
  public:
    struct Days {
        TimePoint from;
        TimePoint to;
    };
    explicit HistoryReader(Days days) : days_(days) {}

    void read(model::Event&& event);
    // So far; those that ended before the days are forgotten.
    std::size_t jobs() const { return lives_.size(); }
    History take();

  private:
    struct Life {
        model::JobSubmitted submitted;
        TimePoint at;
        timeline::Spans spans{0};
    };

    void read_cluster(model::Event&& event);
    void read_job(base::JobId id, model::Event&& event);

    Days days_;
    bool has_begun_ = false;
    History history_;
    std::map<base::JobId, Life> lives_;  // of jobs that were there in these days, or may be
};

}  // namespace berth::simulation
