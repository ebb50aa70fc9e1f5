// SPDX-License-Identifier: Apache-2.0
//
// Who was served before a job that would have fit, and by which order? Jobs of its own project that
// stood before it (R3), or those of other projects, by share (R2).
#pragma once

#include <span>
#include <vector>

#include "model/answer/verdict.h"
#include "model/plan.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

struct Served {
    JobId job;
    bool grows = false;  // it had its minimum
};

// Whom the plan, carried out by now, serves in this pool.
std::vector<Served> served_in(const PoolView& view, const model::Plan& plan);

// Says which order it was; of shares, what the projects hold where the two part. Whether any of
// them came before the job at all.
bool tell_who_was_first(model::Verdict& verdict, const PoolView& view, const cluster::Job& job,
                        std::span<const Served> served);

}  // namespace berth::scheduling
