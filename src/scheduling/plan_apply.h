// SPDX-License-Identifier: Apache-2.0
//
// What is the cluster like once the plan is being carried out? Who leaves is leaving, who starts
// has its GPUs, and what is promised is held. For trials and copies: events of a server keep their
// own account (lifecycle/plan_events.h).
#pragma once

#include "cluster/cluster.h"
#include "model/plan.h"

namespace berth::scheduling {

void carry_out(cluster::Cluster& cluster, const model::Plan& plan);

}  // namespace berth::scheduling
