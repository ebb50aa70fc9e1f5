// SPDX-License-Identifier: Apache-2.0
//
// Why does this job wait? One reason of the closed list (model/answer/verdict.h) with the numbers
// that decided it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "model/answer/verdict.h"
#include "model/plan.h"
#include "model/policy/policy.h"

namespace berth::scheduling {

// The verdict on one waiting job, given the plan just decided on this very cluster (not yet
// carried out). The cluster is the same after the call as before.
model::Verdict explain(cluster::Cluster& cluster, const model::Policy& policy,
                       const model::Plan& plan, model::TimePoint now, model::JobId job);

// The same for several jobs at once, in their order: the plan is looked at once.
std::vector<model::Verdict> explain(cluster::Cluster& cluster, const model::Policy& policy,
                                    const model::Plan& plan, model::TimePoint now,
                                    std::span<const model::JobId> jobs);

// The verdicts on all jobs that wait, by job id.
std::vector<model::Verdict> explain_all(cluster::Cluster& cluster, const model::Policy& policy,
                                        const model::Plan& plan, model::TimePoint now);

// One sentence for people, with the numbers: "vision uses 2 of its fixed quota of 2 GPUs".
std::string explain_text(const model::Verdict& verdict);

// The sum that decided, with the numbers: "4 held + 2 asked = 6, above the limit of 5". Empty where
// there is nothing to sum.
std::string arithmetic_text(const model::Verdict& verdict);

}  // namespace berth::scheduling
