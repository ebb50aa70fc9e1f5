// SPDX-License-Identifier: Apache-2.0
//
// berth simulate --policy: which policies of a server does a text mean, and how do the jobs of a
// trace fare under each, decided by the very code that the server runs?
#pragma once

#include <string>
#include <vector>

#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "simulation/core/core_replay.h"
#include "simulation/report/report.h"

namespace berth::cli {

struct NamedPolicy {
    std::string name;  // as typed
    model::Policy policy;
};

// "learned:tail=33:backfill_reservations=0,age": an order and, behind colons, settings of the
// policy. The order's own go by their last word. "classic" is that profile.
Outcome<std::vector<NamedPolicy>> read_policies(const std::string& text);

struct CoreWishes {
    simulation::Trace trace;  // as the cluster will take it
    model::Description cluster;
    std::vector<NamedPolicy> policies;
    simulation::Placement placement = simulation::Placement::Nodes;
    base::Duration restart_cost{};
    base::Duration save_time{};
    bool has_quotas = false;  // else one project owns all

    simulation::CoreExperiment experiment(const NamedPolicy& policy) const {
        return {trace, cluster, policy.policy, placement, restart_cost, save_time};
    }
};

struct Simulated {
    simulation::Run run;
    bool is_sound = false;  // all jobs ended, and no check of the run failed; otherwise reported
};

Outcome<Simulated> simulate_policy(const Context& context, const CoreWishes& wanted,
                                   const NamedPolicy& policy);

// Tells what is wrong with a run; true when nothing is. `why`: what unfinished jobs lack.
bool tell_faults(const Context& context, const simulation::Run& run,
                 const std::vector<std::string>& complaints, const std::string& why);

}  // namespace berth::cli
