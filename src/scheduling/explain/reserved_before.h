// SPDX-License-Identifier: Apache-2.0
//
// Which gangs keep from a job what it would have, by backfill reservations (backfill/backfill.h)?
// By those of the plan, or, where it was not planned yet, as they would be made. The cluster is as
// before after each call.
#pragma once

#include <vector>

#include "model/plan.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

struct ReservedBefore {
    MilliGpu gpus{0};  // idle ones, for all gangs
    std::vector<JobId> gangs;  // that go on waiting
    bool keep_share = false;  // the job would use GPUs of the share that one of its project needs
    bool fits_beside = false;  // the job, on idle GPUs
};
ReservedBefore reserved_before(const PoolView& view, const model::Plan& plan,
                               const cluster::Job& job);

// Those to which a job that cannot be paused leaves their share of what it could have.
std::vector<JobId> gangs_with_the_share(const PoolView& view, const model::Plan& plan,
                                        const cluster::Job& job);

}  // namespace berth::scheduling
