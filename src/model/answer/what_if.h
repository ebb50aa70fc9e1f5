// SPDX-License-Identifier: Apache-2.0
//
// What would be different if? The changes that can be supposed, and what they would do to each job,
// beside what happens as things stand. Made by foresight/what_if.h; nothing is ever changed by it.
#pragma once

#include <string>
#include <vector>

#include "model/job/job.h"
#include "model/node/node.h"
#include "model/plan.h"

namespace berth::model {

enum class Supposition {
    Submit,  // a job as in `spec` is handed in
    Quota,  // the quota of the project `name` is `gpus`
    Limit,  // its limit is
    Node,  // `count` nodes like `node` are added
    Drain,  // the node `name` takes no new work, what runs there runs on
    Down,  // the node `name` fails, what runs there waits again
    End,  // the job `job` ends
};

struct Hypothesis {
    Supposition what = Supposition::Submit;
    std::string name = {};
    MilliGpu gpus{0};
    int count = 1;
    JobId job = {};
    JobSpec spec = {};
    Node node = {};

    bool operator==(const Hypothesis&) const = default;
};

enum class Fate {
    Absent,  // there is no such job
    Runs,  // goes on as it is
    Starts,  // on `tasks`, now
    Grows,  // by `tasks`
    Promised,  // starts on `tasks` when they have been left
    Pauses,  // leaves `tasks` for the job `beneficiary`
    Shrinks,  // by `tasks`, for the job `beneficiary`
    Moves,  // leaves its GPUs for the job `beneficiary`, and starts again on `tasks`
    Waits,  // `why` says why, `reason` is of the closed list
};

struct JobFate {
    Fate fate = Fate::Absent;
    std::vector<TaskPlacement> tasks = {};
    JobId beneficiary = {};
    std::string reason = {};
    std::string why = {};

    bool operator==(const JobFate&) const = default;
};

struct FateChange {
    JobId job;
    JobFate now;
    JobFate then;

    bool operator==(const FateChange&) const = default;
};

struct WhatIf {
    std::vector<FateChange> jobs;  // whose fate differs, by id
    int waiting_now = 0;  // jobs that go on waiting
    int waiting_then = 0;
    int reasons_compared = 0;  // how many of them, at most; the others may wait for another

    bool operator==(const WhatIf&) const = default;
};

}  // namespace berth::model
