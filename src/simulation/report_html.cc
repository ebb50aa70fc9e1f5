// SPDX-License-Identifier: Apache-2.0
//
// The comparison as one page that opens anywhere: no script, no font, nothing from elsewhere.
#include <algorithm>
#include <array>
#include <cmath>

#include "simulation/line_chart.h"
#include "simulation/report.h"

namespace berth::simulation {
namespace {

constexpr std::size_t kBins = 240;       // of a line over time
constexpr std::size_t kCurvePoints = 200;
constexpr std::size_t kColumns = 360;    // of a picture of GPUs
constexpr std::int32_t kRowsMax = 128;
constexpr std::size_t kJobColours = 8;

constexpr std::string_view kStyle = R"css(<style>
:root{color-scheme:light dark;--ink:#1c2733;--faint:#667788;--grid:#d9e0e6;--paper:#fff;
--c0:#1f6fb4;--c1:#d1621a;--c2:#2a8a4a;--c3:#b3327d;
--c4:#7a5cc0;--c5:#8a6d12;--c6:#118c95;--c7:#5d6b78}
@media (prefers-color-scheme:dark){:root{--ink:#dde6ee;--faint:#93a3b3;--grid:#34414d;
--paper:#141a20;--c0:#5aa9ea;--c1:#f0914e;--c2:#5fc682;--c3:#e873b6;
--c4:#b09cf0;--c5:#d3b350;--c6:#4fc6cf;--c7:#a3b1bd}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);
max-width:1080px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .3rem}
p{margin:.3rem 0;color:var(--faint)}
.wide{overflow-x:auto;margin-top:1rem}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:.25rem .4rem;text-align:right;border-bottom:1px solid var(--grid);
white-space:nowrap}
th:first-child,td:first-child{text-align:left}th{font-weight:600;color:var(--faint)}
td.best{font-weight:700}svg{width:100%;height:auto}text{font-size:11px;fill:var(--faint)}
.grid{stroke:var(--grid);fill:none}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}
.line0{stroke:var(--c0)}.line1{stroke:var(--c1)}.line2{stroke:var(--c2)}
.line3{stroke:var(--c3)}.line4{stroke:var(--c4)}.line5{stroke:var(--c5)}
.line6{stroke:var(--c6)}.line7{stroke:var(--c7)}
.key{display:inline-block;margin-right:1.2rem;color:var(--ink)}
.key i{display:inline-block;width:1.1rem;height:.25rem;border-radius:2px;margin-right:.4rem;
vertical-align:middle}
.gpus{shape-rendering:crispEdges}summary{cursor:pointer}
</style>
)css";

std::string colour(std::size_t place) {
    return "var(--c" + std::to_string(place % kJobColours) + ")";
}

std::string time_text(double seconds) {
    return base::format(Duration{std::chrono::seconds(std::llround(seconds))});
}

std::string percent_text(double part) { return std::to_string(std::llround(part * 100)) + "%"; }

double seconds(Duration time) { return static_cast<double>(time.count()) / 1000; }

std::string legend(std::span<const Run> runs) {
    std::string html = "<p>";
    for (std::size_t at = 0; at < runs.size(); ++at) {
        html += "<span class=\"key\"><i style=\"background:" + colour(at) + "\"></i>" +
                escaped(runs[at].policy) + "</span>";
    }
    return html + "</p>\n";
}

// --- the table

struct ColumnOfTable {
    const char* title;
    double Metrics::* figure;
    std::string (*text)(double);
    bool more_is_better = false;
};

std::string plain_text(double value) {
    const auto hundredths = std::llround(value * 100);
    const std::string places = std::to_string(hundredths % 100);
    return std::to_string(hundredths / 100) + (places.size() < 2 ? ".0" : ".") + places;
}

constexpr ColumnOfTable kTable[] = {
    {"average", &Metrics::avg_jct_s, time_text},
    {"median", &Metrics::median_jct_s, time_text},
    {"p95", &Metrics::p95_jct_s, time_text},
    {"p99", &Metrics::p99_jct_s, time_text},
    {"longest", &Metrics::max_jct_s, time_text},
    {"makespan", &Metrics::makespan_s, time_text},
    {"queued", &Metrics::avg_queue_s, time_text},
    {"used", &Metrics::utilization, percent_text, true},
    {"fragmented", &Metrics::fragmentation, percent_text},
    {"mean rho", &Metrics::rho_mean, plain_text},
    {"worst rho", &Metrics::rho_max, plain_text},
    {"unfair", &Metrics::unfair_share, percent_text},
};

std::string table(std::span<const Run> runs) {
    std::string html = "<div class=\"wide\"><table><tr><th>policy</th>";
    for (const ColumnOfTable& column : kTable) {
        html += "<th>" + std::string(column.title) + "</th>";
    }
    html += "<th>pauses</th></tr>\n";
    for (const Run& run : runs) {
        html += "<tr><td>" + escaped(run.policy) + "</td>";
        for (const ColumnOfTable& column : kTable) {
            const std::string text = column.text(run.metrics.*column.figure);
            const bool is_best = std::ranges::all_of(runs, [&](const Run& other) {
                const double own = run.metrics.*column.figure;
                const double its = other.metrics.*column.figure;
                return column.more_is_better ? own >= its : own <= its;
            });
            html += (is_best && runs.size() > 1 ? "<td class=\"best\">" : "<td>") + text + "</td>";
        }
        html += "<td>" + std::to_string(run.metrics.preemptions) + "</td></tr>\n";
    }
    return html + "</table></div>\n";
}

// --- lines

std::string completion_chart(const Experiment& experiment, std::span<const Run> runs) {
    constexpr double kMinute = 60, kHour = 3600, kDay = 86'400;
    Axes axes{.title = "share of jobs that finished within a time of their submission",
              .x_scale = Scale::Log,
              .x_from = 1e18,
              .x_to = 1,
              .x_ticks = {1, 10, kMinute, 10 * kMinute, kHour, 6 * kHour, kDay, 10 * kDay,
                          100 * kDay, 1000 * kDay},
              .x_text = time_text,
              .y_text = percent_text};
    std::vector<Line> lines;
    for (const Run& run : runs) {
        const std::vector<double> times = completion_times(experiment, run.replay);
        Line& line = lines.emplace_back(run.policy, std::vector<Point>{});
        if (times.empty()) continue;
        for (std::size_t at = 0; at <= kCurvePoints; ++at) {
            const double part = static_cast<double>(at) / kCurvePoints;
            line.points.push_back({percentile(times, part * 100), part});
        }
        axes.x_from = std::min(axes.x_from, std::max(1.0, times.front()));
        axes.x_to = std::max(axes.x_to, times.back());
    }
    return line_chart(axes, lines);
}

// Means of what `value` makes of samples, over equal pieces of the time shown.
std::vector<Point> over_time(const Replay& replay, double from, double to,
                             double (*value)(const Sample&)) {
    std::vector<double> sums(kBins, 0.0);
    const double width = (to - from) / kBins;
    for (std::size_t at = 0; at < replay.timeline.size(); ++at) {
        const Sample& sample = replay.timeline[at];
        double begin = seconds(sample.at.time_since_epoch()) - from;
        const double end = at + 1 < replay.timeline.size()
                               ? seconds(replay.timeline[at + 1].at.time_since_epoch()) - from
                               : begin;
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

// What all policies' charts over time show: from the first submission to the very last end.
struct Span {
    double from = 0, to = 0;

    std::vector<double> ticks() const {
        constexpr double kSteps[] = {1,     10,     60,      600,       3600,      6 * 3600,
                                     86400, 864000, 4320000, 8640000.0, 86400000.0};
        for (const double step : kSteps) {
            if ((to - from) / step > 10) continue;
            std::vector<double> all;
            for (double at = 0; at <= to - from; at += step) all.push_back(at);
            return all;
        }
        return {};
    }
};

std::string chart_over_time(std::span<const Run> runs, const Span& span, std::string title,
                            double scale, double (*value)(const Sample&),
                            std::string (*text)(double)) {
    std::vector<Line> lines;
    double highest = 0;
    for (const Run& run : runs) {
        lines.push_back({run.policy, over_time(run.replay, span.from, span.to, value)});
        for (Point& point : lines.back().points) {
            point.y /= scale;
            highest = std::max(highest, point.y);
        }
    }
    const Axes axes{.title = std::move(title),
                    .x_scale = Scale::Linear,
                    .x_from = 0,
                    .x_to = span.to - span.from,
                    .y_to = scale > 1 ? 1.0 : std::max(4.0, std::ceil(highest / 4) * 4),
                    .x_ticks = span.ticks(),
                    .x_text = time_text,
                    .y_text = text};
    return line_chart(axes, lines);
}

// --- who held which GPU

std::string gpu_picture(const Experiment& experiment, const Run& run, const Span& span) {
    const std::int32_t rows = std::min(experiment.machines.gpus(), kRowsMax);
    std::vector<ordering::Ticket> cells(static_cast<std::size_t>(rows) * kColumns, -1);
    const double width = (span.to - span.from) / kColumns;
    const auto column = [&](TimePoint at) {
        const double place = (seconds(at.time_since_epoch()) - span.from) / width;
        return std::min(static_cast<std::size_t>(std::max(std::ceil(place - 0.5), 0.0)), kColumns);
    };
    for (const Stay& stay : run.replay.stays) {
        const std::size_t begin = column(stay.from), end = column(stay.to);
        const auto gpus = experiment.trace[static_cast<std::size_t>(stay.job)].gpus;
        for (const std::int32_t gpu : run.replay.gpus_of(stay, gpus)) {
            if (gpu >= rows || begin >= end) continue;
            const auto row = cells.begin() + static_cast<std::ptrdiff_t>(gpu) *
                                                 static_cast<std::ptrdiff_t>(kColumns);
            std::fill(row + static_cast<std::ptrdiff_t>(begin),
                      row + static_cast<std::ptrdiff_t>(end), stay.job);
        }
    }
    std::array<std::string, kJobColours> strokes;
    for (std::int32_t row = 0; row < rows; ++row) {
        const auto* line = cells.data() + static_cast<std::size_t>(row) * kColumns;
        for (std::size_t begin = 0; begin < kColumns;) {
            std::size_t end = begin + 1;
            while (end < kColumns && line[end] == line[begin]) ++end;
            if (line[begin] >= 0) {
                strokes[static_cast<std::size_t>(line[begin]) % kJobColours] +=
                    "M" + std::to_string(begin * 2) + " " + std::to_string(row * 4 + 2) + "h" +
                    std::to_string((end - begin) * 2);
            }
            begin = end;
        }
    }
    std::string svg = "<svg class=\"gpus\" viewBox=\"0 0 " + std::to_string(kColumns * 2) + " " +
                      std::to_string(rows * 4) + "\" role=\"img\" aria-label=\"GPUs over time\">";
    for (std::size_t at = 0; at < kJobColours; ++at) {
        svg += "<path stroke=\"" + colour(at) + "\" stroke-width=\"3\" d=\"" + strokes[at] + "\"/>";
    }
    return svg + "</svg>\n";
}

}  // namespace

std::string html_report(const Experiment& experiment, std::span<const Run> runs,
                        std::string_view title) {
    Span span{.from = seconds(experiment.trace.front().submitted.time_since_epoch()), .to = 0};
    span.to = span.from + 1;
    for (const Run& run : runs) {
        span.to = std::max(span.to, span.from + run.metrics.makespan_s);
    }
    const Machines& machines = experiment.machines;
    std::string html =
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
        escaped(title) + "</title>\n" + std::string(kStyle) + "<h1>" + escaped(title) +
        "</h1>\n<p>" + std::to_string(experiment.trace.size()) + " jobs on " +
        std::to_string(machines.nodes) + " nodes of " + std::to_string(machines.gpus_per_node) +
        " GPUs; a start after a pause costs " + base::format(experiment.restart_cost) +
        "; placement by " + (experiment.placement == Placement::Count ? "count" : "nodes") +
        "</p>\n";
    html += table(runs);
    html += "<h2>Time from submission to end</h2>\n<p>Share of jobs that finished within it</p>\n" +
            legend(runs) + completion_chart(experiment, runs);
    html += "<h2>GPUs in use</h2>\n" + legend(runs) +
            chart_over_time(
                runs, span, "share of GPUs in use over time", machines.gpus(),
                [](const Sample& at) { return double(at.gpus_used); }, percent_text);
    html += "<h2>Jobs waiting</h2>\n" + legend(runs) +
            chart_over_time(
                runs, span, "jobs waiting over time", 1,
                [](const Sample& at) { return double(at.jobs_waiting); },
                [](double value) { return std::to_string(std::llround(value)); });
    html += "<h2>Who held which GPU</h2>\n<p>A row is a GPU" +
            std::string(machines.gpus() > kRowsMax
                            ? ", the first " + std::to_string(kRowsMax) + " of them"
                            : "") +
            "; time runs to the right; neighbouring colours are different jobs</p>\n";
    for (const Run& run : runs) {
        html += "<details" + std::string(&run == &runs.front() ? " open" : "") + "><summary>" +
                escaped(run.policy) + "</summary>" + gpu_picture(experiment, run, span) +
                "</details>\n";
    }
    return html + "</html>\n";
}

}  // namespace berth::simulation
