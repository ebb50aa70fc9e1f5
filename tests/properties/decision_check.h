// SPDX-License-Identifier: Apache-2.0
//
// Is this decision allowed to look like this? Replays a plan step by step on the cluster it was
// made for, and holds every step against the rules (judge.h) and the invariants:
//   I1  nothing is used or promised beyond what is there    I2  no gang between 0 and its minimum
//   I3  quota for work that cannot be paused, limits, what is set aside for fixed quotas
//   I4  reclaim leaves no sibling worse off than the winner   I6  no pause without a beneficiary
//   I7  no piece too many, and, where the policy says so, no cheaper set
//   I9  no job waits for which another may be paused          I12 service is never lost
//   I14 nodes that join another pool: node_moves_check.h
#pragma once

#include <string>
#include <vector>

#include "lifecycle/apply.h"
#include "model/plan.h"
#include "model/policy/policy.h"

namespace berth::proof {

struct DecisionStats {
    std::int64_t decisions = 0;
    std::int64_t starts = 0;
    std::int64_t moves = 0;
    std::int64_t backfill = 0;
    std::int64_t pausing = 0;            // decisions that pause a job for another
    std::int64_t node_moves = 0;         // nodes that joined another pool
    std::int64_t preemptions = 0;          // beneficiaries for which a job was paused
    std::int64_t sets_tried = 0;         // preemptions held against all other sets
    std::int64_t refusals_proved = 0;    // waiting jobs for whom no set exists
    std::int64_t crossings = 0;          // gangs that crossed their fair share by reclaim
    std::int64_t cycles = 0;             // lives that never came to rest, of those that may
};

// One sentence for each finding. `after` is `before` with the plan carried out.
std::vector<std::string> check_decision(const lifecycle::State& before, const model::Policy& policy,
                                        model::TimePoint now, const model::Plan& plan,
                                        const lifecycle::State& after, DecisionStats& stats);

}  // namespace berth::proof
