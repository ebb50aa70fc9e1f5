// SPDX-License-Identifier: Apache-2.0
//
// How do things stand? Cost: O(jobs that have not ended + projects x pools).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lifecycle/apply.h"

namespace berth::overview {

using base::MilliGpu;

// Each GPU, or part of one, counts once.
struct GpuCounts {
    MilliGpu total{0};
    MilliGpu used{0};       // by jobs that run, wherever, or promised to one
    MilliGpu starting{0};   // given to jobs whose processes are being started
    MilliGpu leaving{0};    // still with jobs that were asked to leave
    MilliGpu idle{0};       // on nodes that are ready
    MilliGpu not_ready{0};  // on nodes that are not ready, and with no job
    int idle_together = 0;  // the most whole idle GPUs of one node
};

struct JobCounts {
    int running = 0;   // or starting
    int waiting = 0;   // for GPUs, have not run yet or have lost what they had
    int paused = 0;    // go on by themselves
    int on_hold = 0;   // paused until a user resumes them
    int leaving = 0;   // are being paused or cancelled
    int all() const { return running + waiting + paused + on_hold + leaving; }
};

// What a project has in all pools together, as GPUs count there.
struct ProjectUse {
    std::string name;
    MilliGpu quota{0};
    MilliGpu used{0};     // or promised to its jobs
    MilliGpu wanted{0};   // at least, by its jobs that wait
    MilliGpu borrowed{0}; // beyond its quota, pool by pool
    MilliGpu unused{0};   // of its quota
};

struct Overview {
    GpuCounts gpus;
    JobCounts jobs;  // all
    std::map<std::string, JobCounts, std::less<>> of_users;  // that have any
    MilliGpu wanted{0};  // at least, by all jobs that wait
    bool has_run_any = false;  // a job was ever submitted
    std::vector<ProjectUse> projects;  // that have no projects below them, in their order

    JobCounts jobs_of(std::string_view user) const;
};

Overview overview_of(const lifecycle::State& state);
// Its part about GPUs. Cost: O(pools).
GpuCounts gpu_counts_of(const lifecycle::State& state);

}  // namespace berth::overview
