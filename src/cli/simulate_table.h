// SPDX-License-Identifier: Apache-2.0
//
// How is a comparison of policies shown on a terminal? One line for each policy.
#pragma once

#include <span>
#include <string>

#include "cli/style.h"
#include "simulation/report.h"

namespace berth::cli {

std::string simulate_table(std::span<const simulation::Run> runs, const Style& style);

}  // namespace berth::cli
