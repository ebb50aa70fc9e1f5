// SPDX-License-Identifier: Apache-2.0
//
// Does the ledger account for all GPU time? Looks at a state after each of its events and counts
// for itself, from the nodes and the records of jobs alone: on every day, the uses of the GPUs of
// each pool and model sum to their number times the time they were there, none is negative, and
// what they do at this moment is what the records say.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lifecycle/apply.h"

namespace berth::proof {

class LedgerCheck {
  public:
    // One sentence for each finding. Between two looks the GPUs change at the later one.
    std::vector<std::string> look(const lifecycle::State& state);

  private:
    using Place = std::pair<std::string, std::string>;  // pool, model

    std::map<std::pair<std::int64_t, Place>, std::int64_t> wanted_;  // by day
    std::map<Place, std::int64_t> there_;  // thousandths of GPUs, since time_
    model::TimePoint time_;
};

}  // namespace berth::proof
