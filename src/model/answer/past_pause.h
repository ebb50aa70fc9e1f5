// SPDX-License-Identifier: Apache-2.0
//
// What became of one pause of a job? Made by src/timeline from the events of its log.
#pragma once

#include "model/record.h"

namespace berth::model {

struct PastPause : PauseReceipt {
    int attempt = 0;              // that was asked to leave
    bool is_whole = true;         // all of its tasks were
    int tasks = 0;                // the number that were, where not all
    std::int64_t lost_gpu_ms = 0; // unsaved work that it destroyed
    std::optional<PauseSides> sides = {};  // not known of pauses by users and of earlier versions
};

// The newest are in front.
struct JobReceipts {
    std::vector<PastPause> items;
    std::int64_t left_out = 0;  // earlier ones
};

// One of them, and whose it was.
struct Taking : PastPause {
    JobId job;
};

// The newest are in front.
struct Takings {
    std::vector<Taking> items;
    std::int64_t after = 0;  // the event behind which they were looked for; 0 = in the whole log
};

}  // namespace berth::model
