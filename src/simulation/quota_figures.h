// SPDX-License-Identifier: Apache-2.0
//
// What did each project have of the cluster? Projects with jobs, in the cluster's order.
#pragma once

#include <string>
#include <vector>

#include "simulation/quota_waits.h"

namespace berth::simulation {

struct ProjectFigures {
    std::string name;
    std::size_t jobs = 0;
    std::size_t finished = 0;
    double avg_jct_s = 0;  // of those
    double gpu_hours = 0;  // held, with restarts and saving
    double over_quota_gpu_hours = 0;  // of those, above its quota in the pool
    std::int64_t pauses = 0;
    double longest_in_quota_wait_s = 0;  // quota_waits.h
};

std::vector<ProjectFigures> project_figures(const Accounts& accounts,
                                            const CoreExperiment& experiment,
                                            const CoreReplay& run);

}  // namespace berth::simulation
