// SPDX-License-Identifier: Apache-2.0
//
// What happens to a cluster and its rules, whatever its jobs do. A part of event.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job/job.h"
#include "model/node/node.h"
#include "model/policy/policy_settings.h"
#include "model/project.h"

namespace berth::model {

struct LevelsSet {
    Levels levels;
};             // the levels of the topology, in place of those before
struct PoolSet {
    Pool pool;
};
// It is empty and unused.
struct PoolRemoved {
    std::string pool;
};
struct NodeSet {
    Node node;
};             // added, or changed by name
// Others use so much of the node from now on, in place of what they used before.
struct NodeUsedByOthers {
    std::string node;
    OthersUse use;
};
// A node on which nothing runs is in this pool from now on: its labels say so, or it takes the
// place of a node that is not ready, which becomes a spare where it stood.
struct NodeMoved {
    std::string node;
    std::string pool;
    std::string replaces;                  // empty = its labels say so
};
struct ProjectSet {
    Project project;
};    // added, or changed by name
// It has no children and no job that lives; those that have ended stay in the history.
struct ProjectRemoved {
    std::string project;
};

// The log goes on under a new name, so that remains of another one can be recognised.
// Ids of jobs go on above `last_job`.
struct LogBegun {
    std::string incarnation;  // random
    JobId last_job{0};
    std::optional<OrderRules> order = {};  // of jobs, from now on; none = of an earlier version
};

// From the next decision on. A setting without a text has its startup value again.
struct PolicySet {
    PolicyChanges settings;
    // By which rules jobs are ordered from now on, by these settings and as the server was started;
    // none = as before.
    std::optional<OrderRules> order = {};
};

}  // namespace berth::model
