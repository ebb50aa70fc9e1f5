// SPDX-License-Identifier: Apache-2.0
//
// Who took GPUs from whom? Folds the events of all jobs into the receipts of pauses that were made
// for another job: those of the kJobsTaken jobs that were paused last.
//
// Trusts: events in order, from any point of the log on. Cost: O(log jobs) an event, O(receipts) an
// answer.
#pragma once

#include <map>
#include <set>
#include <string_view>

#include "timeline/receipts.h"

namespace berth::timeline {

inline constexpr std::size_t kJobsTaken = 1'000;
inline constexpr std::size_t kTakingsShown = 100;

class Takings {
  public:
    void read(const model::Event& event);

    // Those by which the project gave or got GPUs, at most kTakingsShown; empty = any project.
    std::vector<model::Taking> of(std::string_view project) const;

  private:
    struct Taken {
        Receipts receipts;
        std::int64_t last = 0;  // the sequence of its newest request
    };
    std::map<model::JobId, Taken> jobs_;
    std::set<std::pair<std::int64_t, model::JobId>> by_last_;
};

}  // namespace berth::timeline
