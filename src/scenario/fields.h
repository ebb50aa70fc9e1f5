// SPDX-License-Identifier: Apache-2.0
//
// The key=value pairs of a command as model data. Every key must be used by its verb.
#pragma once

#include "model/event.h"
#include "model/job/gpu_profile.h"
#include "model/job/job.h"
#include "model/node/node.h"
#include "model/policy/policy.h"
#include "model/project.h"
#include "scenario/script.h"

namespace berth::scenario {

base::Result<model::Node> read_node(const Command& command);
base::Result<model::NodeUsedByOthers> read_others(const Command& command);
base::Result<model::Pool> read_pool(const Command& command);
// `before` gives what the command does not say.
base::Result<model::Project> read_project(const Command& command, model::Project before);

struct JobLine {
    model::JobSpec spec;
    std::vector<std::string> on;                // "n0" or "n0:0,1", one a task; the rest as last
    std::optional<model::Duration> age;         // since submission
    std::optional<model::Duration> waiting;     // since it was last put in line
    std::optional<model::Duration> started;     // how long ago
    std::optional<model::Duration> saved;       // how long ago
    bool saves = false;                         // when it is asked to leave
    std::optional<model::Duration> parked;      // for how long it has been
    std::optional<model::Duration> paused;      // how long ago it was last asked to leave
    std::optional<model::Duration> attained;    // GPU time it has had
    std::optional<model::Duration> stale;       // for how long it has been below its minimum
    std::vector<std::vector<std::string>> companions_on = {};  // by kind, as `on`
    bool is_held = false;
    int running = 0;                            // tasks that run; default: all tasks_min
    bool is_releasing = false;
};
base::Result<JobLine> read_job(const Command& command);
// JOB tasks=3 ended=1,2
base::Result<model::JobSizeSet> read_size(const Command& command, int tasks_before);
// PROJECT/JOB compute=0.5 persistent=4G peak=20G highest=20G iterations=100
base::Result<model::ProfileLedger> read_profile(const Command& command);
base::Result<model::Policy> read_policy(const Command& command, model::Policy before);

}  // namespace berth::scenario
