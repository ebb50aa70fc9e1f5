// SPDX-License-Identifier: Apache-2.0
#include "control/pause_cost.h"

#include <algorithm>

#include "base/gpu_time.h"

namespace berth::control {

model::PauseCost pause_cost(const model::JobRecord& job, model::TimePoint now) {
    const model::TimePoint saved =
        std::max(job.last_start.value_or(now), job.last_checkpoint.value_or(model::TimePoint{}));
    std::int64_t milli = 0;
    for (const model::TaskPlacement& task : job.tasks) {
        milli += task.gpus().value;
    }
    return {base::gpu_ms({milli}, std::max(now - saved, base::Duration{0})),
            base::gpu_ms({milli}, job.spec.restart_cost)};
}

}  // namespace berth::control
