// SPDX-License-Identifier: Apache-2.0
#include "model/policy/policy.h"

#include <string>

namespace berth::model {

Policy berth_policy() { return {}; }

Policy classic_policy() {
    Policy policy;
    policy.cheapest_victims = false;
    policy.scale_overcommitted = false;
    policy.gang_reclaim = false;
    policy.actions_apart = true;
    policy.reclaim_cpu_only = false;
    policy.waste_budget.reset();
    policy.min_run = Duration{0};
    policy.min_run_restarts = 0;
    policy.priced_moves = false;
    policy.backfill_max = 0;
    policy.consolidate_above_ppm = 1'000'000;
    policy.min_run_binds_all = true;
    policy.order.by = JobOrder::Age;
    return policy;
}

base::Result<Policy> policy_named(std::string_view name) {
    if (name == "berth") return berth_policy();
    if (name == "classic") return classic_policy();
    return base::invalid("profile: wanted \"berth\" or \"classic\", found \"" + std::string(name) +
                         "\"");
}

}  // namespace berth::model
