// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a job that runs and whose GPUs do nothing? It is warned, and after a time parked
// or ended, where the rule says so and it is not used meanwhile. docs/adr/0054.
#pragma once

#include <optional>

#include "lifecycle/apply.h"

namespace berth::lifecycle {

// Whether it is a job that could be parked: of one task, with GPUs.
bool is_parkable(const model::JobSpec& spec);

// Whether a running job is to be parked that asked for it, and has made no call to its GPUs for
// this time.
bool may_be_parked(const model::JobRecord& record, model::Duration idle);

struct IdleRule {
    model::Duration after;    // then it is warned
    model::Duration warning;  // then, after that, the rule acts
    model::IdleAct act = model::IdleAct::Warn;
};

// Of the job's project, else of the nearest one above it that says something, else the policy's;
// none = it may be idle. Cost: O(depth of the tree).
std::optional<IdleRule> idle_rule(const cluster::Cluster& cluster, const model::Policy& policy,
                                  model::JobId job);
// The shortest time that any rule counts; none = there is no rule.
std::optional<model::Duration> shortest_idle_time(const cluster::Cluster& cluster,
                                                  const model::Policy& policy);

enum class IdleStep {
    None,
    Warn,   // or warn anew: another thing follows
    Act,    // what it was warned of
    Over,   // the warning does not hold any more
};

// Now that its GPUs have been seen to do nothing for `idle`; 0 = they do something.
IdleStep idle_step(const model::JobRecord& record, const std::optional<IdleRule>& rule,
                   model::Duration idle, model::TimePoint now);

// What it is warned of by that rule.
model::IdleWarning idle_warning(const model::JobRecord& record, const IdleRule& rule,
                                model::Duration idle, model::TimePoint now);

}  // namespace berth::lifecycle
