// SPDX-License-Identifier: Apache-2.0
//
// What is the order to the supervisor of an attempt? A translation, with the places on disk and
// each task's place in the gang worked out.
#pragma once

#include <sys/types.h>

#include <string>

#include "ports/launcher.h"
#include "supervision/order.h"

namespace berth::process {

struct Machine {
    std::string cluster;
    std::string runtime;
    std::string jobs_dir;
    std::string boot;
    std::int64_t log_limit = 0;        // bytes of each task's log; 0 = none
    mode_t umask = 022;
    // A folder in which programs on simulated GPUs say what they do; empty = GPUs are real.
    std::string gpu_counters = {};
};

supervision::Order make_order(const Machine& machine, const ports::LaunchOrder& launch);

}  // namespace berth::process
