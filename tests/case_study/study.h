// SPDX-License-Identifier: Apache-2.0
//
// What does it make of a stream of jobs whether GPUs are assigned or shared? Both are replayed by
// the real core until all jobs have ended; figures of the four weeks count what was done in them.
#pragma once

#include <string>
#include <vector>

#include "case_study/engineers.h"
#include "simulation/report/report.h"

namespace berth::case_study {

struct Figures {
    double used = 0;  // of all GPUs in the four weeks, by useful work: no restarts, no saving
    double used_to_train = 0;  // of those to train
    int experiments = 0;  // that ended in the four weeks
    double experiments_per_gpu = 0;  // of those to train
    // Of experiments, whenever they end: of those who are in a training phase and of the others; 0
    // where there are none.
    double avg_jct_training_h = 0, avg_jct_others_h = 0;
    double longest_in_quota_wait_s = 0;  // of anybody
    std::int64_t pauses = 0;
    double worst_rho = 0;  // of all jobs, builds too (simulation/report/metrics.h)
};

struct Result {
    simulation::Run run;
    Figures figures;
    std::vector<std::string> complaints;  // of the audit
};

// A project's jobs go by age; every pause takes all of its grace, a restart costs a minute more.
Result replay(const Site& site, const simulation::Trace& trace, Assignment assignment);

}  // namespace berth::case_study
