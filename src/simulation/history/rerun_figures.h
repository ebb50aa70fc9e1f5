// SPDX-License-Identifier: Apache-2.0
//
// How were both sides of a rerun, and what really happened, by the measures of metrics.h? Of all
// jobs, and of each project.
#pragma once

#include "model/answer/what_if_replay.h"
#include "simulation/history/history.h"

namespace berth::simulation {

struct BothSides {
    const CoreReplay& as_set;
    const CoreReplay& changed;
};

// Waits, times and pauses are of the jobs that ended really and end as it was set; under the
// change, of those of them that end there too. GPU time is of all jobs, in the days of the history
// alone. Who waits less under the change comes first, who has jobs that never end last.
void add_figures(const History& history, BothSides sides, model::WhatIfReplay& answer);

}  // namespace berth::simulation
