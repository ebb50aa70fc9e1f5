// SPDX-License-Identifier: Apache-2.0
#include "simulation/report/report_tables.h"

#include <algorithm>
#include <cmath>

#include "simulation/report/figure_text.h"
#include "simulation/report/line_chart.h"

namespace berth::simulation {
namespace {

std::string whole_text(double value) { return thousands_text(std::llround(value)); }

// To hundredths while those matter.
std::string ratio_text(double value) {
    constexpr double kWholeFrom = 100;
    if (value >= kWholeFrom) return whole_text(value);
    const auto hundredths = std::llround(value * 100);
    const std::string places = std::to_string(hundredths % 100);
    return std::to_string(hundredths / 100) + (places.size() < 2 ? ".0" : ".") + places;
}

struct FigureColumn {
    const char* title;
    double (*figure)(const Metrics&);
    std::string (*text)(double);
    bool more_is_better = false;
};

struct FigureGroup {
    const char* title;
    std::span<const FigureColumn> columns;
};

constexpr FigureColumn kCompletion[] = {
    {"average", [](const Metrics& of) { return of.avg_jct_s; }, time_text},
    {"median", [](const Metrics& of) { return of.median_jct_s; }, time_text},
    {"99% within", [](const Metrics& of) { return of.p99_jct_s; }, time_text},
    {"longest", [](const Metrics& of) { return of.max_jct_s; }, time_text},
};
constexpr FigureColumn kWait[] = {
    {"average", [](const Metrics& of) { return of.avg_queue_s; }, time_text},
};
constexpr FigureColumn kAll[] = {
    {"makespan", [](const Metrics& of) { return of.makespan_s; }, time_text},
    {"pauses", [](const Metrics& of) { return double(of.pauses); }, whole_text},
    {"of them moves", [](const Metrics& of) { return double(of.moves); }, whole_text},
    {"GPU utilization", [](const Metrics& of) { return of.utilization; }, percent_text, true},
    {"idle while jobs wait", [](const Metrics& of) { return of.fragmentation; }, percent_text},
};
constexpr FigureColumn kFairness[] = {
    {"mean", [](const Metrics& of) { return of.rho_mean; }, ratio_text},
    {"worst", [](const Metrics& of) { return of.rho_max; }, ratio_text},
    {"unfair jobs", [](const Metrics& of) { return of.unfair_share; }, percent_text},
};
constexpr FigureGroup kGroups[] = {{"Completion time", kCompletion},
                                   {"Wait", kWait},
                                   {"All jobs together", kAll},
                                   {"Finish-time fairness", kFairness}};

bool is_best(const FigureColumn& column, const Run& run, std::span<const Run* const> rivals) {
    if (rivals.size() < 2 || std::ranges::count(rivals, &run) == 0) return false;
    if (run.metrics.finished == 0) return false;
    const double own = column.figure(run.metrics);
    return std::ranges::all_of(rivals, [&](const Run* rival) {
        const double its = column.figure(rival->metrics);
        return column.more_is_better ? own >= its : own <= its;
    });
}

std::string figures_row(const Run& run, std::span<const Run* const> rivals) {
    std::string html = "<tr><th scope=\"row\">" + escaped(run.policy);
    if (run.metrics.finished < run.metrics.jobs) {
        html += "<small>" + whole_text(double(run.metrics.jobs - run.metrics.finished)) + " of " +
                whole_text(double(run.metrics.jobs)) + " jobs did not finish</small>";
    }
    html += "</th>";
    for (const FigureGroup& group : kGroups) {
        for (const FigureColumn& column : group.columns) {
            const std::string text =
                run.metrics.finished == 0 ? "none" : column.text(column.figure(run.metrics));
            const bool is_first = &column == group.columns.data();
            html += is_first ? "<td class=\"first\">" : "<td>";
            html += is_best(column, run, rivals) ? "<strong>" + text + "</strong>" : text;
            html += "</td>";
        }
    }
    return html + "</tr>\n";
}

std::string figures_head() {
    std::string groups = "<tr><th scope=\"col\" rowspan=\"2\">policy</th>";
    std::string columns = "<tr>";
    for (const FigureGroup& group : kGroups) {
        groups += "<th class=\"first\" scope=\"colgroup\" colspan=\"" +
                  std::to_string(group.columns.size()) + "\">" + group.title + "</th>";
        for (const FigureColumn& column : group.columns) {
            const bool is_first = &column == group.columns.data();
            columns += std::string(is_first ? "<th class=\"first\"" : "<th") + " scope=\"col\">" +
                       column.title + "</th>";
        }
    }
    return "<thead>" + groups + "</tr>\n" + columns + "</tr></thead>\n";
}

// A table that can be scrolled by keys where it is wider than the page.
std::string framed(std::string_view caption, const std::string& content) {
    const std::string text = escaped(caption);
    return "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"" + text +
           "\"><table><caption>" + text + "</caption>\n" + content + "</table></div>\n";
}

}  // namespace

std::vector<const Run*> compared(std::span<const Run> runs) {
    std::vector<const Run*> found;
    for (const Run& run : runs) {
        if (!run.is_reference) found.push_back(&run);
    }
    if (!found.empty()) return found;
    for (const Run& run : runs) found.push_back(&run);
    return found;
}

std::string policy_table(std::span<const Run> runs) {
    const std::vector<const Run*> rivals = compared(runs);
    std::size_t columns = 1;
    for (const FigureGroup& group : kGroups) columns += group.columns.size();
    std::string policies;
    std::string references;
    for (const Run& run : runs) {
        (run.is_reference ? references : policies) += figures_row(run, rivals);
    }
    std::string content = figures_head();
    if (!policies.empty()) content += "<tbody>\n" + policies + "</tbody>\n";
    if (!references.empty()) {
        content += "<tbody>\n<tr><th class=\"band\" scope=\"rowgroup\" colspan=\"" +
                   std::to_string(columns) + "\">reference: not what the server runs</th></tr>\n" +
                   references + "</tbody>\n";
    }
    return framed(rivals.size() > 1 ? "Figures of each policy; the best of a column is bold"
                                    : "Figures of each policy",
                  content);
}

std::string projects_table(const Run& run) {
    if (run.projects.empty()) return "";
    std::string content = "<thead><tr><th scope=\"col\">project</th>";
    for (const char* title : {"jobs", "finished", "average completion time", "GPU hours",
                              "of them over quota", "pauses", "longest wait in quota"}) {
        content += "<th scope=\"col\">" + std::string(title) + "</th>";
    }
    content += "</tr></thead>\n<tbody>\n";
    for (const ProjectFigures& project : run.projects) {
        content += "<tr><th scope=\"row\">" + escaped(project.name) + "</th>";
        for (const std::string& text :
             {whole_text(double(project.jobs)), whole_text(double(project.finished)),
              project.finished == 0 ? "none" : time_text(project.avg_jct_s),
              whole_text(project.gpu_hours), whole_text(project.over_quota_gpu_hours),
              thousands_text(project.pauses), time_text(project.longest_in_quota_wait_s)}) {
            content += "<td>" + text + "</td>";
        }
        content += "</tr>\n";
    }
    return framed("Projects under " + run.policy, content + "</tbody>\n");
}

std::string column_meanings(bool has_projects) {
    std::string html =
        "<dl>\n"
        "<dt>Completion time</dt><dd>from the submission of a job to its end</dd>\n"
        "<dt>Wait</dt><dd>the part of the completion time in which the job holds no GPUs</dd>\n"
        "<dt>Makespan</dt><dd>from the first submission to the last end</dd>\n"
        "<dt>Pauses</dt><dd>how often a running job has to leave its GPUs: it saves, stops, and "
        "waits or moves to other GPUs at once</dd>\n"
        "<dt>Moves</dt><dd>the pauses of those that move, so that another job has room</dd>\n"
        "<dt>GPU utilization</dt><dd>useful work, as part of all GPUs over the makespan</dd>\n"
        "<dt>Idle while jobs wait</dt><dd>GPU time that is free although jobs wait, likewise"
        "</dd>\n"
        "<dt>Finish-time fairness</dt><dd>completion time, divided by the run time of the job "
        "alone "
        "times the GPUs that all jobs ask on average during its life, for each GPU there is, at "
        "least "
        "1: rho of Themis, NSDI'20</dd>\n";
    if (has_projects) {
        html +=
            "<dt>Over quota</dt><dd>GPU hours that a project borrows from what others leave unused"
            "</dd>\n"
            "<dt>Longest wait in quota</dt><dd>how long jobs wait that fit in the quota of their "
            "project</dd>\n";
    }
    return html + "</dl>\n";
}

}  // namespace berth::simulation
