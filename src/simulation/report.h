// SPDX-License-Identifier: Apache-2.0
//
// How is a comparison of policies told? As JSON: a list with one object for each policy.
#pragma once

#include <span>
#include <string>

#include "simulation/metrics.h"

namespace berth::simulation {

// One policy's run over the trace.
struct Run {
    std::string policy;
    Replay replay;
    Metrics metrics;
};

std::string json_report(std::span<const Run> runs);

}  // namespace berth::simulation
