// SPDX-License-Identifier: Apache-2.0
//
// How fast were jobs measured to be: alone, spread over nodes, and beside each other? Reads the
// tables of Gavel and Shockwave (stanford-futuredata/gavel, scheduler/simulation_throughputs.json;
// uw-mad-dash/shockwave, scheduler/tacc_throughputs.json): steps a second by GPU model, job and
// GPUs, of which "v100" and "v100_unconsolidated" are taken.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace berth::simulation {

// Parts of the speed of a job that has its GPUs to itself and together.
struct SpeedTable {
    using Job = std::pair<std::string, std::int32_t>;  // its name and its GPUs

    std::map<Job, double> spread;                  // at most 1
    std::map<std::pair<Job, Job>, double> beside;  // of the first, beside the second

    // As of the most GPUs, not above its own, of which it was measured; 1 when it never was.
    double spread_of(const Job& job) const;
};

// Errors: Invalid, "FILE:LINE: what is wrong".
base::Result<SpeedTable> parse_speed_table(std::string_view text, std::string_view file);

}  // namespace berth::simulation
