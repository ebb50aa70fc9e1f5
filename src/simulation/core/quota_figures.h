// SPDX-License-Identifier: Apache-2.0
//
// What did each project have of the cluster? Projects with jobs, in the cluster's order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulation/core/quota_waits.h"

namespace berth::simulation {

struct ProjectFigures {
    std::string name;
    std::size_t jobs = 0;
    std::size_t finished = 0;
    double avg_jct_s = 0;  // of those
    double gpu_hours = 0;  // held, with restarts and saving
    double over_quota_gpu_hours = 0;  // of those, above its quota in the pool
    std::int64_t pauses = 0;
    std::int64_t moves = 0;
    double longest_in_quota_wait_s = 0;  // quota_waits.h
    // "age tail 33": what it or a department above it says of its order of jobs, which stands
    // whatever order a policy has; empty when none does.
    std::string own_order = {};
};

std::vector<ProjectFigures> project_figures(const Accounts& accounts,
                                            const CoreExperiment& experiment,
                                            const CoreReplay& run);

// "vision age; nlp learned tail 33": those with an order of their own; empty when there are none.
std::string own_orders_text(std::span<const ProjectFigures> projects);

}  // namespace berth::simulation
