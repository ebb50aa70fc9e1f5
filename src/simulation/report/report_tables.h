// SPDX-License-Identifier: Apache-2.0
//
// Which tables show a comparison of runs on a page, and how are their columns explained? Policies
// of a server first, then orders that no server runs, under a heading that says so. The best figure
// of a column is strong; orders of reference compete among themselves only where there is no other.
#pragma once

#include "simulation/report/report.h"

namespace berth::simulation {

std::string policy_table(std::span<const Run> runs);
// What each project of a cluster with quotas had in a run; empty without quotas.
std::string projects_table(const Run& run);
// What the columns of both mean, as a list.
std::string column_meanings(bool has_projects);

// The policies of a server, else all.
std::vector<const Run*> compared(std::span<const Run> runs);

}  // namespace berth::simulation
