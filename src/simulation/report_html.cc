// SPDX-License-Identifier: Apache-2.0
//
// The comparison as one page that opens anywhere: no script, no font, nothing from elsewhere.
#include <algorithm>
#include <array>
#include <cmath>

#include "simulation/figure_text.h"
#include "simulation/line_chart.h"
#include "simulation/report.h"
#include "simulation/run_charts.h"

namespace berth::simulation {
namespace {

constexpr std::size_t kColumns = 360;    // of a picture of GPUs
constexpr std::int32_t kRowsMax = 128;
constexpr std::size_t kJobColours = 8;

constexpr std::string_view kStyle = R"css(
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);
max-width:1080px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .3rem}
p{margin:.3rem 0;color:var(--faint)}
.wide{overflow-x:auto;margin-top:1rem}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:.25rem .4rem;text-align:right;border-bottom:1px solid var(--grid);
white-space:nowrap}
th:first-child,td:first-child{text-align:left}th{font-weight:600;color:var(--faint)}
td.best{font-weight:700}svg{width:100%;height:auto}
.key{display:inline-block;margin-right:1.2rem;color:var(--ink)}
.key i{display:inline-block;width:1.1rem;height:.25rem;border-radius:2px;margin-right:.4rem;
vertical-align:middle}
.gpus{shape-rendering:crispEdges}summary{cursor:pointer}
)css";

std::string colour(std::size_t place) {
    return "var(--c" + std::to_string(place % kJobColours) + ")";
}

std::string label(const Run& run) {
    return escaped(run.policy) + (run.is_reference ? " (reference, no server runs it)" : "");
}

std::string drawn(const Chart& chart) { return line_chart(chart.axes, chart.lines); }

std::string legend(std::span<const Run> runs) {
    std::string html = "<p>";
    for (std::size_t at = 0; at < runs.size(); ++at) {
        html += "<span class=\"key\"><i style=\"background:" + colour(at) + "\"></i>" +
                label(runs[at]) + "</span>";
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
        html += "<tr><td>" + label(run) + "</td>";
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

// --- who held which GPU

std::string gpu_picture(const Experiment& experiment, const Run& run, const Span& span) {
    const std::int32_t rows = std::min(experiment.machines.gpus(), kRowsMax);
    std::vector<reference::Ticket> cells(static_cast<std::size_t>(rows) * kColumns, -1);
    const double width = (span.to - span.from) / kColumns;
    const auto column = [&](TimePoint at) {
        const double place = (in_seconds(at.time_since_epoch()) - span.from) / width;
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

std::string nodes_text(const Machines& machines) {
    std::string text;
    for (const NodesAlike& alike : machines.models()) {
        text += (text.empty() ? "" : ", ") + std::to_string(alike.nodes) + " nodes of " +
                std::to_string(alike.gpus_per_node) + " " + escaped(alike.model) +
                (alike.model.empty() ? "GPUs" : " GPUs");
    }
    return text;
}

}  // namespace

std::string html_report(const Experiment& experiment, std::span<const Run> runs,
                        std::string_view title) {
    const Span span = whole_span(experiment, runs);
    std::string html =
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
        escaped(title) + "</title>\n<style>" + std::string(chart_style()) + std::string(kStyle) +
        "</style>\n<h1>" + escaped(title) + "</h1>\n<p>" + std::to_string(experiment.trace.size()) +
        " jobs on " + nodes_text(experiment.machines) + "; a start after a pause costs " +
        base::format(experiment.restart_cost) + "; placement by " +
        (experiment.placement == Placement::Count ? "count" : "nodes") + "</p>\n";
    html += table(runs);
    html += "<h2>Time from submission to end</h2>\n<p>Share of jobs that finished within it</p>\n" +
            legend(runs) + drawn(completion_chart(experiment, runs));
    html += "<h2>GPUs in use</h2>\n" + legend(runs) + drawn(use_chart(experiment, runs, span));
    html += "<h2>Jobs waiting</h2>\n" + legend(runs) + drawn(waiting_chart(runs, span));
    html += "<h2>Who held which GPU</h2>\n<p>A row is a GPU" +
            std::string(experiment.machines.gpus() > kRowsMax
                            ? ", the first " + std::to_string(kRowsMax) + " of them"
                            : "") +
            "; time runs to the right; neighbouring colours are different jobs</p>\n";
    for (const Run& run : runs) {
        html += "<details" + std::string(&run == &runs.front() ? " open" : "") + "><summary>" +
                label(run) + "</summary>" + gpu_picture(experiment, run, span) + "</details>\n";
    }
    return html + "</html>\n";
}

}  // namespace berth::simulation
