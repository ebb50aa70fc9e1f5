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
    Quota,  // the quota of the project `name` in `pool` is `gpus`; kUnlimited: it states none
    Limit,  // its limit is
    Weight,  // its weight is `weight_thousandths`
    Node,  // `count` nodes like `node` are added, or like the one called `name`
    Drain,  // the node `name` takes no new work, what runs there runs on
    Down,  // the node `name` fails, what runs there waits again
    End,  // the job `job` ends
};

struct Hypothesis {
    Supposition what = Supposition::Submit;
    std::string name = {};
    std::string pool = {};  // empty = the default one
    MilliGpu gpus{0};
    std::int64_t weight_thousandths = 0;
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

// What a project has in a pool when what is decided has been done.
struct ShareThen {
    MilliGpu quota{0};
    MilliGpu limit{0};
    std::int64_t weight_thousandths = 0;
    MilliGpu fair_share{0};
    MilliGpu used{0};  // or promised to its jobs
    MilliGpu waiting{0};  // on top, by its jobs that wait

    bool operator==(const ShareThen&) const = default;
};

struct ShareChange {
    std::string project;
    std::string pool;
    ShareThen now;
    ShareThen then;

    bool operator==(const ShareChange&) const = default;
};

struct WhatIf {
    std::string sentence;  // the answer in words
    std::vector<FateChange> jobs;  // whose fate differs, by id
    std::vector<ShareChange> projects;  // that have something else, pool by pool, in their order
    int waiting_now = 0;  // jobs that go on waiting
    int waiting_then = 0;
    int reasons_compared = 0;  // how many of them, at most; the others may wait for another

    bool operator==(const WhatIf&) const = default;
};

}  // namespace berth::model
