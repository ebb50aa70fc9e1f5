// SPDX-License-Identifier: Apache-2.0
//
// Which job held which GPU when? One inline SVG: a row for each GPU, time to the right, lines
// between nodes. Neighbouring colours are different jobs; a GPU that several jobs hold at once has
// a colour of its own, class "shared".
#pragma once

#include "simulation/report/run_charts.h"

namespace berth::simulation {

inline constexpr std::int32_t kGpuRowsMax = 128;  // the first ones are shown

std::string gpu_picture(const Experiment& experiment, const Run& run, const Span& span);

// What it looks like, as style sheet; the colours are those of chart_style().
std::string_view gpu_picture_style();

}  // namespace berth::simulation
