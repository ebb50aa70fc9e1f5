// SPDX-License-Identifier: Apache-2.0
#include "simulation/report/run_charts.h"

#include <algorithm>
#include <cmath>

#include "simulation/report/figure_text.h"

namespace berth::simulation {
namespace {

constexpr std::size_t kBins = 240;       // of a line over time
constexpr std::size_t kCurvePoints = 200;

std::string count_text(double value) { return std::to_string(std::llround(value)); }

// Means of what `value` makes of samples, over equal pieces of the time shown.
std::vector<Point> over_time(const Replay& replay, const Span& span,
                             double (*value)(const Sample&)) {
    std::vector<double> sums(kBins, 0.0);
    const double width = (span.to - span.from) / kBins;
    for (std::size_t at = 0; at + 1 < replay.timeline.size(); ++at) {
        const Sample& sample = replay.timeline[at];
        double begin = in_seconds(sample.at.time_since_epoch()) - span.from;
        const double end =
            std::min(in_seconds(replay.timeline[at + 1].at.time_since_epoch()) - span.from,
                     span.to - span.from);
        while (begin < end) {
            const auto bin = std::min(static_cast<std::size_t>(begin / width), kBins - 1);
            const double edge = bin + 1 == kBins ? end : static_cast<double>(bin + 1) * width;
            const double until = std::max(std::min(end, edge), std::nextafter(begin, end));
            sums[bin] += value(sample) * (until - begin);
            begin = until;
        }
    }
    std::vector<Point> points;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        points.push_back({(static_cast<double>(bin) + 0.5) * width, sums[bin] / width});
    }
    return points;
}

Chart chart_over_time(std::span<const Run> runs, const Span& span, double (*value)(const Sample&)) {
    Chart chart{.axes = {.title = {},
                         .x_scale = Scale::Linear,
                         .x_from = 0,
                         .x_to = span.to - span.from,
                         .x_ticks = time_ticks(span),
                         .x_text = time_text,
                         .y_text = count_text},
                .lines = {}};
    for (const Run& run : runs) {
        chart.lines.push_back({run.policy, over_time(run.replay, span, value)});
    }
    return chart;
}

}  // namespace

Span whole_span(const Experiment& experiment, std::span<const Run> runs) {
    const double from = in_seconds(experiment.trace.front().submitted.time_since_epoch());
    Span span{from, from + 1};
    for (const Run& run : runs) span.to = std::max(span.to, from + run.metrics.makespan_s);
    return span;
}

std::vector<double> time_ticks(const Span& span) {
    constexpr double kSteps[] = {1,     10,     60,     600,     3600,    6 * 3600,
                                 86400, 604800, 864000, 4320000, 8640000, 86400000.0};
    for (const double step : kSteps) {
        if ((span.to - span.from) / step > 10) continue;
        std::vector<double> all;
        for (double at = 0; at <= span.to - span.from; at += step) all.push_back(at);
        return all;
    }
    return {};
}

Chart completion_chart(const Experiment& experiment, std::span<const Run> runs) {
    constexpr double kMinute = 60;
    constexpr double kHour = 3600;
    constexpr double kDay = 86'400;
    Chart chart{.axes = {.title = "share of jobs that finished within a time of their submission",
                         .x_scale = Scale::Log,
                         .x_from = 1e18,
                         .x_to = 1,
                         .x_ticks = {1, 10, kMinute, 10 * kMinute, kHour, 6 * kHour, kDay,
                                     10 * kDay, 100 * kDay, 1000 * kDay},
                         .x_text = time_text,
                         .y_text = percent_text},
                .lines = {}};
    for (const Run& run : runs) {
        const std::vector<double> times = completion_times(experiment, run.replay);
        Line& line = chart.lines.emplace_back(run.policy, std::vector<Point>{});
        if (times.empty()) continue;
        for (std::size_t at = 0; at <= kCurvePoints; ++at) {
            const double part = static_cast<double>(at) / kCurvePoints;
            line.points.push_back({percentile(times, part * 100), part});
        }
        chart.axes.x_from = std::min(chart.axes.x_from, std::max(1.0, times.front()));
        chart.axes.x_to = std::max(chart.axes.x_to, times.back());
    }
    return chart;
}

Chart use_chart(const Experiment& experiment, std::span<const Run> runs, const Span& span) {
    Chart chart =
        chart_over_time(runs, span, [](const Sample& at) { return double(at.gpus_used.value); });
    chart.axes.title = "share of GPUs in use over time";
    chart.axes.y_text = percent_text;
    for (Line& line : chart.lines) {
        for (Point& point : line.points) point.y /= 1000.0 * experiment.machines.gpus();
    }
    return chart;
}

Chart waiting_chart(std::span<const Run> runs, const Span& span) {
    Chart chart =
        chart_over_time(runs, span, [](const Sample& at) { return double(at.jobs_waiting); });
    chart.axes.title = "jobs waiting over time";
    double highest = 4;
    for (const Line& line : chart.lines) {
        for (const Point& point : line.points) highest = std::max(highest, point.y);
    }
    chart.axes.y_to = std::ceil(highest / 4) * 4;
    return chart;
}

}  // namespace berth::simulation
