// SPDX-License-Identifier: Apache-2.0
//
// What was seen of a running attempt's GPUs and is not yet in the log? Written down again and again
// while it runs, the later the longer it has run, and before what takes its GPUs.
#pragma once

#include <map>
#include <optional>

#include "control/gpu_use/use_watch.h"
#include "model/event.h"

namespace berth::control {

class UnwrittenUse {
  public:
    // Whether enough has come together of an attempt that has run for that time.
    bool add(const UseSeen& seen, base::Duration runs);
    // What there is of the job's attempt, which is then written down; none = nothing.
    std::optional<model::JobUsed> take(ports::AttemptId attempt);
    bool is_empty() const { return unwritten_.empty(); }

  private:
    struct Use {
        base::Duration busy{0};
        base::Duration measured{0};
    };
    std::map<ports::AttemptId, Use> unwritten_;
};

// Whose attempt has other GPUs after that event, or none, or is known to have used them in another
// way; not valid = no job's.
model::JobId loses_gpus(const model::EventBody& body);

}  // namespace berth::control
