// SPDX-License-Identifier: Apache-2.0
//
// How is a comparison of policies shown? As JSON, a list with one object for each policy, or as a
// page.
#pragma once

#include <span>
#include <string>

#include "simulation/core/quota_figures.h"
#include "simulation/report/metrics.h"

namespace berth::simulation {

// One policy's run over the trace.
struct Run {
    std::string policy;
    Replay replay;
    Metrics metrics;
    bool is_reference = false;  // an order that no server runs
    std::vector<ProjectFigures> projects = {};  // in a cluster with quotas
};

std::string json_report(std::span<const Run> runs);

// One page with tables, distributions, GPUs in use and waiting jobs over time and who held which
// GPU. `trace`: what the trace is called.
std::string html_report(const Experiment& experiment, std::span<const Run> runs,
                        std::string_view trace);

}  // namespace berth::simulation
