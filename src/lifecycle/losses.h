// SPDX-License-Identifier: Apache-2.0
//
// How often in a row was an attempt of this job lost before it got anywhere? Progress is known by
// a save, or by the time it has run: ten minutes, and twice what it costs to start it again.
#pragma once

#include <algorithm>

#include "model/record.h"

namespace berth::lifecycle {

inline constexpr model::Duration kProgress{10 * 60 * 1000};

// Whether the attempt that holds its GPUs now has got somewhere.
inline bool has_progressed(const model::JobRecord& job, model::TimePoint now) {
    const bool runs =
        job.state == model::JobState::Running || job.state == model::JobState::Pausing;
    const model::Duration enough = std::max(kProgress, 2 * job.spec.restart_cost);
    return runs && job.last_start && now - *job.last_start >= enough;
}

// Of those before the attempt that holds its GPUs now.
inline int losses_in_a_row(const model::JobRecord& job, model::TimePoint now) {
    return has_progressed(job, now) ? 0 : job.losses;
}

}  // namespace berth::lifecycle
