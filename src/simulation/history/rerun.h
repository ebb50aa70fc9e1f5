// SPDX-License-Identifier: Apache-2.0
//
// How would the last days have been under a change? A log is read (history.h), and what it says is
// simulated twice: as the cluster was set, and under the change from the first moment on. A
// project that was changed on the way keeps the right that is supposed, and so do nodes and
// settings. Both are judged by the same measures as what really happened.
//
// The work comes in parts, so that who does it has other things to do between them.
// Guarantees: without a change both sides are the same. Cost: of the log O(events), of each side as
// core_replay.h.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "model/answer/what_if_replay.h"
#include "ports/log_reader.h"
#include "simulation/history/history.h"

namespace berth::simulation {

// One part.
inline constexpr std::int64_t kEventsAPart = 5'000;
inline constexpr std::int64_t kDecisionsAPart = 100;
// About 4 KB of memory each while they are replayed.
inline constexpr std::size_t kJobsReplayedMax = 50'000;

struct RerunQuestion {
    TimePoint from;
    TimePoint to;
    std::int64_t last = 0;  // the sequence of the newest event
    model::Policy started_policy;  // without what people have set
    std::vector<model::Hypothesis> suppose;  // rights, more nodes, nodes that are drained
    model::PolicyChanges policy;
};

class Rerun {
  public:
    Rerun(RerunQuestion question, ports::OpenLog open_log);
    Rerun(const Rerun&) = delete;
    ~Rerun();

    // Does a part, unless all is done. What goes wrong is said in the answer.
    void turn();
    // As far as it has come.
    const model::WhatIfReplay& answer() const { return answer_; }

  private:
    struct Side;

    base::Status go_on();
    base::Status read();
    base::Status play(Side& side);
    base::Status prepare();
    void judge();

    RerunQuestion question_;
    ports::OpenLog open_log_;
    std::unique_ptr<ports::LogReader> log_;
    std::int64_t read_to_ = 0;
    HistoryReader reader_;
    History history_;
    std::unique_ptr<Side> as_set_;
    std::unique_ptr<Side> changed_;
    model::WhatIfReplay answer_;
};

}  // namespace berth::simulation
