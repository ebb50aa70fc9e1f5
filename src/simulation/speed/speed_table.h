// SPDX-License-Identifier: Apache-2.0
//
// How fast were jobs measured to be: alone, spread over nodes, beside each other, and on other
// models of GPU? Reads the tables of Gavel and Shockwave (stanford-futuredata/gavel,
// scheduler/simulation_throughputs.json; uw-mad-dash/shockwave, scheduler/tacc_throughputs.json):
// steps a second by GPU model ("v100", "v100_unconsolidated"), job and GPUs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth::simulation {

// Parts of the speed of a job that has GPUs of the first model to itself, and together.
struct SpeedTable {
    using Job = std::pair<std::string, std::int32_t>;  // its name and its GPUs
    struct Alone {
        double together = 1;  // 0: it does not run on this model
        double spread = 1;    // at most as fast as together
    };

    std::vector<std::map<Job, Alone>> on_models{1};
    std::map<std::pair<Job, Job>, double> beside;  // of the first, beside the second

    // As of the most GPUs, not above its own, of which it was measured on the first model; full
    // speed everywhere when it never was.
    Alone alone(const Job& job, std::size_t model) const;
};

// What it says of these models. A job that was not measured on another than the first does not run
// there; one not measured when spread loses as much as on the first. Errors: Invalid, "FILE:LINE:
// what is wrong".
base::Result<SpeedTable> parse_speed_table(std::string_view text, std::string_view file,
                                           std::span<const std::string> models);

}  // namespace berth::simulation
