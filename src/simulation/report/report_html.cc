// SPDX-License-Identifier: Apache-2.0
//
// The comparison as one page that opens anywhere: no script, no font, nothing from elsewhere.
#include <algorithm>
#include <cmath>
#include <utility>

#include "simulation/report/figure_text.h"
#include "simulation/report/gpu_picture.h"
#include "simulation/report/line_chart.h"
#include "simulation/report/report.h"
#include "simulation/report/report_tables.h"
#include "simulation/report/run_charts.h"

namespace berth::simulation {
namespace {

constexpr std::string_view kStyle = R"css(
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0}
main{max-width:1160px;margin:0 auto;padding:2rem 1.25rem 3rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .3rem}
h2{font-size:1.15rem;margin:2.2rem 0 .2rem}
p,figcaption,dd,caption,footer{color:var(--faint)}
p{margin:.2rem 0}p.note{font-size:.85rem;margin-top:.5rem}
p.lead{color:var(--ink);font-size:1.1rem;margin-top:.8rem}
.wide{overflow-x:auto;margin-top:1rem}
.wide:focus-visible,summary:focus-visible{outline:2px solid var(--c0);outline-offset:2px}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;width:100%}
caption{text-align:left;padding-bottom:.4rem}
th,td{padding:.35rem .45rem;text-align:right;border-bottom:1px solid var(--grid)}
td{white-space:nowrap}
thead th{font-weight:600;color:var(--faint);vertical-align:bottom;line-height:1.25}
thead th[colspan]{text-align:center;color:var(--ink)}
th:first-child{text-align:left}tbody th{font-weight:600;min-width:7rem;overflow-wrap:anywhere}
thead th{min-width:3.5rem}
thead tr+tr th:first-child{text-align:right}
th small{display:block;font-weight:400;color:var(--c1)}
.first{border-left:1px solid var(--grid)}
tbody th.band{font-weight:400;color:var(--faint);padding-top:.9rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.6rem 0 0;
font-size:.9rem}
dt{font-weight:600}dd{margin:0}
figure{margin:.4rem 0 0}svg{width:100%;height:auto;display:block}
ul.key{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;margin:.5rem 0;padding:0;
font-size:.9rem}
ul.key svg{display:inline-block;width:2rem;height:.6rem;margin-right:.4rem}
.line{stroke-width:2}
.line1{stroke-dasharray:8 3}.line2{stroke-dasharray:2 3}.line3{stroke-dasharray:9 3 2 3}
.line4{stroke-dasharray:14 4}.line5{stroke-dasharray:4 2}.line6{stroke-dasharray:1 2}
.line7{stroke-dasharray:12 3 2 3 2 3}
details{margin-top:.6rem}summary{cursor:pointer;font-weight:600;padding:.2rem 0}
footer{margin-top:2.5rem;border-top:1px solid var(--grid);padding-top:.8rem;font-size:.85rem}
@media (max-width:640px){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}
@media print{main{max-width:none}details:not([open]){display:none}}
)css";

std::string counted(std::int64_t count, std::string_view one) {
    return thousands_text(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

// "a, b and c"
std::string names_of(std::span<const Run> runs) {
    std::string text;
    for (std::size_t at = 0; at < runs.size(); ++at) {
        if (at > 0) text += at + 1 == runs.size() ? " and " : ", ";
        text += runs[at].policy;
    }
    return text;
}

std::string title_of(std::span<const Run> runs, std::string_view trace) {
    return names_of(runs) + (runs.size() > 1 ? " compared on " : " on ") + std::string(trace);
}

std::string label(const Run& run) {
    return escaped(run.policy) + (run.is_reference ? " (reference: not what the server runs)" : "");
}

std::string nodes_text(const Machines& machines) {
    std::string text;
    for (const NodesAlike& alike : machines.models()) {
        if (!text.empty()) text += ", ";
        if (machines.nodes() > 1) text += counted(alike.nodes, "node") + " with ";
        text += (alike.model.empty() ? "" : escaped(alike.model) + " ") +
                counted(alike.gpus_per_node, "GPU") + (alike.nodes > 1 ? " each" : "");
    }
    return text;
}

// What was simulated, in one sentence.
std::string setting(const Experiment& experiment, const Span& span, bool has_ends) {
    std::string text = "<p>" + counted(std::ssize(experiment.trace), "job") + " on " +
                       nodes_text(experiment.machines) + ". ";
    text +=
        has_ends
            ? "From the first submission to the last end: " + time_text(span.to - span.from) + ". "
            : "No job finished. ";
    text += "A pause costs a job " + base::format(experiment.restart_cost) +
            " on its GPUs, to save and to start again. ";
    text += experiment.placement == Placement::Count ? "A job may hold any free GPUs."
                                                     : "A job that fits on one node runs on one.";
    return text + "</p>\n";
}

// The shortest average completion time, and against which others.
std::string finding(std::span<const Run> runs) {
    std::vector<const Run*> rivals = compared(runs);
    if (rivals.size() < 2) return "";
    if (std::ranges::any_of(rivals, [](const Run* run) { return run->metrics.finished == 0; })) {
        return "";
    }
    std::ranges::stable_sort(rivals, {}, [](const Run* run) { return run->metrics.avg_jct_s; });
    const Run& best = *rivals.front();
    const Run& worst = *rivals.back();
    if (worst.metrics.avg_jct_s <= 0) return "";
    const double less = 1 - best.metrics.avg_jct_s / worst.metrics.avg_jct_s;
    if (std::llround(less * 100) == 0) return "";
    return "<p class=\"lead\">Shortest average completion time: <strong>" + escaped(best.policy) +
           "</strong> with " + time_text(best.metrics.avg_jct_s) + ", " + percent_text(less) +
           " less than " + escaped(worst.policy) + " with " + time_text(worst.metrics.avg_jct_s) +
           ".</p>\n";
}

std::string key(std::span<const Run> runs) {
    if (runs.size() < 2) return "";
    std::string html = "<ul class=\"key\">";
    for (std::size_t at = 0; at < runs.size(); ++at) {
        html += "<li><svg viewBox=\"0 0 32 8\" aria-hidden=\"true\"><path class=\"line line" +
                std::to_string(at % 8) + "\" d=\"M0 4H32\"/></svg>" + label(runs[at]) + "</li>";
    }
    return html + "</ul>\n";
}

double mean_of(const Line& line) {
    double sum = 0;
    for (const Point& point : line.points) sum += point.y;
    return line.points.empty() ? 0 : sum / static_cast<double>(line.points.size());
}

double highest_of(const Line& line) {
    double highest = 0;
    for (const Point& point : line.points) highest = std::max(highest, point.y);
    return highest;
}

// The top of an axis whose four steps are round numbers.
double round_above(double highest) {
    for (double step = 1;; step *= 10) {
        for (const double round : {1.0, 2.0, 5.0}) {
            if (4 * step * round >= highest) return 4 * step * round;
        }
    }
}

// A chart with what it shows in words, for those who do not see it.
template <typename Text>
std::string figure(Chart chart, std::span<const Run> runs, const std::string& caption,
                   const Text& of_run) {
    for (std::size_t at = 0; at < runs.size(); ++at) {
        chart.axes.title +=
            (at == 0 ? ". " : "; ") + runs[at].policy + ": " + of_run(runs[at], chart.lines[at]);
    }
    return key(runs) + "<figure>" + line_chart(chart.axes, chart.lines) + "<figcaption>" + caption +
           "</figcaption></figure>\n";
}

std::string charts(const Experiment& experiment, std::span<const Run> runs, const Span& span) {
    std::string html = "<h2>Completion times</h2>\n";
    html += figure(completion_chart(experiment, runs), runs,
                   "Percent of jobs that finished within a time of their submission. Further left "
                   "is sooner.",
                   [](const Run& run, const Line&) {
                       if (run.metrics.finished == 0) return std::string("no job finished");
                       return "half of the jobs within " + time_text(run.metrics.median_jct_s) +
                              ", 95% within " + time_text(run.metrics.p95_jct_s);
                   });
    html += "<h2>GPUs in use</h2>\n";
    html += figure(use_chart(experiment, runs, span), runs,
                   "Percent of " + counted(experiment.machines.gpus(), "GPU") +
                       " that jobs hold, over the time since the first submission.",
                   [](const Run&, const Line& line) {
                       return percent_text(mean_of(line)) + " in use on average";
                   });
    html += "<h2>Waiting jobs</h2>\n";
    Chart waiting = waiting_chart(runs, span);
    waiting.axes.y_to = round_above(waiting.axes.y_to);
    html += figure(std::move(waiting), runs,
                   "Number of jobs that wait, over the time since the first submission.",
                   [](const Run&, const Line& line) {
                       return counted(std::llround(mean_of(line)), "job") + " on average, " +
                              std::to_string(std::llround(highest_of(line))) + " at most";
                   });
    return html;
}

std::string pictures(const Experiment& experiment, std::span<const Run> runs, const Span& span) {
    std::string html = "<h2>Which job held which GPU</h2>\n<p>A row is a GPU";
    if (experiment.machines.gpus() > kGpuRowsMax) {
        html += " (the first " + std::to_string(kGpuRowsMax) + " of " +
                std::to_string(experiment.machines.gpus()) + ")";
    }
    html +=
        "; time runs to the right. Each colour change is another job; grey is free; a GPU that "
        "jobs share is striped.</p>\n";
    for (const Run& run : runs) {
        html += "<details" + std::string(&run == &runs.front() ? " open" : "") + "><summary>" +
                label(run) + "</summary>" + gpu_picture(experiment, run, span) + "</details>\n";
    }
    return html;
}

}  // namespace

std::string html_report(const Experiment& experiment, std::span<const Run> runs,
                        std::string_view trace) {
    const Span span = whole_span(experiment, runs);
    const std::string title = escaped(title_of(runs, trace));
    const bool has_ends =
        std::ranges::any_of(runs, [](const Run& run) { return run.metrics.finished > 0; });
    const bool has_projects =
        std::ranges::any_of(runs, [](const Run& run) { return !run.projects.empty(); });
    std::string html =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
        title + "</title>\n<style>" + std::string(chart_style()) +
        std::string(gpu_picture_style()) + std::string(kStyle) + "</style></head>\n<body><main>\n" +
        "<h1>" + title + "</h1>\n" + setting(experiment, span, has_ends) + finding(runs);
    html += policy_table(runs);
    html +=
        "<p class=\"note\">Finish-time fairness: completion time, as a multiple of what the job "
        "takes "
        "with an equal share of all GPUs. Above 1.05 it counts as unfair.</p>\n";
    if (has_projects) html += "<h2>Projects</h2>\n";
    for (const Run& run : runs) html += projects_table(run);
    if (const std::string own = own_orders_text(runs.front().projects); !own.empty()) {
        html += "<p class=\"note\">Under each policy by an order of their own: " + escaped(own) +
                ".</p>\n";
    }
    html += "<details><summary>What the columns mean</summary>\n" + column_meanings(has_projects) +
            "</details>\n";
    if (has_ends) html += charts(experiment, runs, span) + pictures(experiment, runs, span);
    html +=
        "<footer>Simulated by <code>berth simulate</code>: the decisions of the policies are "
        "those of a Berth server, in virtual time. Each run is audited against the trace and "
        "the GPUs.</footer>\n";
    return html + "</main></body></html>\n";
}

}  // namespace berth::simulation
