// SPDX-License-Identifier: Apache-2.0
//
// Do minimum runs (minimum_run.h) keep a job from having others paused, and until when? They do
// where a search for victims finds nobody now and somebody once they have all ended, with the
// cluster otherwise as it is. Cost: nothing much where nobody is within one, else two searches.
#pragma once

#include <optional>
#include <string>

#include "scheduling/pool_view.h"

namespace berth::scheduling {

struct MinimumRunWait {
    TimePoint first;    // nobody may be paused for it before
    MilliGpu held{0};  // by those within their minimum run whom it may have paused then
};
// `amount`: what the job asks, as it counts in quotas and shares. By its right to take back, else
// by its right inside its project.
std::optional<MinimumRunWait> minimum_run_wait(const PoolView& view, const cluster::Job& job,
                                               MilliGpu amount);

// "14:05:00 UTC", with the date where it is a day or more from now.
std::string moment_text(TimePoint moment, TimePoint now);

}  // namespace berth::scheduling
