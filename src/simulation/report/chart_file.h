// SPDX-License-Identifier: Apache-2.0
//
// How does a chart stand alone? An SVG file with its title, the names of its lines, and colours for
// light and dark.
#pragma once

#include <string>

#include "simulation/report/run_charts.h"

namespace berth::simulation {

std::string chart_file(const Chart& chart);

}  // namespace berth::simulation
