// SPDX-License-Identifier: Apache-2.0
//
// Which lines show a comparison of runs? One for each run, in their order.
#pragma once

#include <span>
#include <vector>

#include "simulation/report/line_chart.h"
#include "simulation/report/report.h"

namespace berth::simulation {

struct Chart {
    Axes axes;
    std::vector<Line> lines;
};

// What charts over time show, in seconds of the trace's clock.
struct Span {
    double from = 0;
    double to = 0;
};
// From the first submission to the very last end.
Span whole_span(const Experiment& experiment, std::span<const Run> runs);

// Round moments in it, at most ten apart, from its begin.
std::vector<double> time_ticks(const Span& span);

// The share of jobs that finished within a time of their submission.
Chart completion_chart(const Experiment& experiment, std::span<const Run> runs);
// The share of GPUs that jobs hold.
Chart use_chart(const Experiment& experiment, std::span<const Run> runs, const Span& span);
Chart waiting_chart(std::span<const Run> runs, const Span& span);

}  // namespace berth::simulation
