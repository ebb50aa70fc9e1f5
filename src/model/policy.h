// SPDX-License-Identifier: Apache-2.0
//
// The switches of a decision. Two profiles name their settings: `classic` is the rule set R1-R15
// that users of Kubernetes schedulers know, `berth` improves on it on purpose. Every difference
// is one field here and has scenarios that show it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/node.h"

namespace berth::model {

enum class Spreading {
    BinPack,  // fullest node that still fits: keeps whole nodes free
    Spread,   // emptiest node: keeps neighbours apart
};

struct Policy {
    // Which node a task goes to, for train jobs and for the others.
    Spreading train = Spreading::BinPack;
    Spreading build = Spreading::BinPack;

    // Victims are the legal set with the least lost work, not the first legal one in order.
    bool cheapest_victims = true;
    // Capacity freed for a job is held for it until it starts or the hold's deadline passes.
    bool sticky_plans = true;
    // A started job is left alone this long, unless the owner of the quota returns.
    Duration min_run{5 * 60 * 1000};
    // ... and at least this many times its restart cost.
    int min_run_restarts = 3;
    // How long capacity is held for a job after the last victim's grace.
    Duration hold{30 * 1000};
    // How long a paused job may take to save before it is killed.
    Duration pause_grace{60 * 1000};
    // A gang whose largest tensor is a larger part of its model than this goes onto the fewest
    // nodes, since spread it would wait for the network (the rule is that of Tiresias, NSDI '19;
    // the number is ours); parts per million, so 1,000,000 is never.
    std::int64_t consolidate_above_ppm = 200'000;
    // Weight of past use in the fair share (k of rule R1), in thousandths.
    std::int64_t usage_weight = 1000;

    bool operator==(const Policy&) const = default;
};

Policy berth_policy();
Policy classic_policy();

// "berth" or "classic". Errors: Invalid, naming both.
base::Result<Policy> policy_named(std::string_view name);

}  // namespace berth::model
