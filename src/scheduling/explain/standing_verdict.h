// SPDX-License-Identifier: Apache-2.0
//
// Does a job wait, or not, for what is known of it without asking for room: it starts by the plan,
// is promised GPUs, was paused by a user, is parked, or bound to a node that is about to leave?
#pragma once

#include <optional>

#include "cluster/cluster.h"
#include "model/answer/verdict.h"
#include "model/plan.h"

namespace berth::scheduling {

inline constexpr std::size_t kBlockersMax = 8;  // that a verdict names

// The verdict that follows from the job's own state or its place in the plan, which was not enacted
// on the cluster; nothing when it needs room. Cost: O(plan), and the tasks that leave.
std::optional<model::Verdict> standing_verdict(const cluster::Cluster& cluster,
                                               const model::Plan& plan, const cluster::Job& job);

}  // namespace berth::scheduling
