// SPDX-License-Identifier: Apache-2.0
#include "control/pause_cost.h"

#include <algorithm>

namespace berth::control {

model::PauseCost pause_cost(const model::JobRecord& job, model::TimePoint now) {
    const model::TimePoint saved =
        std::max(job.last_start.value_or(now), job.last_checkpoint.value_or(model::TimePoint{}));
    std::int64_t milli = 0;
    for (const model::TaskPlacement& task : job.tasks) {
        milli += task.gpus().value;
    }
    return {milli * std::max<std::int64_t>((now - saved).count(), 0) / 1000,
            milli * job.spec.restart_cost.count() / 1000};
}

}  // namespace berth::control
