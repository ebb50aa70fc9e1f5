// SPDX-License-Identifier: Apache-2.0
//
// How is a comparison of policies shown on a terminal? One line for each policy.
#pragma once

#include <span>
#include <string>

#include "cli/terminal/style.h"
#include "simulation/report/report.h"

namespace berth::cli {

std::string simulate_table(std::span<const simulation::Run> runs, const Style& style);

// What each project of a cluster with quotas had in one run: one line for each.
std::string project_table(const simulation::Run& run, const Style& style);

}  // namespace berth::cli
