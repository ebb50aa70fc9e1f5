// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/simulate_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/terminal/table.h"

namespace berth::cli {
namespace {

std::string time(double seconds) {
    return base::format(base::Duration{std::chrono::seconds(std::llround(seconds))});
}

// A figure of jobs that finished; "-" where none did.
std::string of_finished(std::size_t finished, const std::string& figure) {
    return finished == 0 ? "-" : figure;
}

// "PAUSES: moves to other GPUs are 12 of learned's, 421 of age's"; empty if no job moved.
std::string moves_note(std::span<const simulation::Run> runs) {
    std::string text;
    for (const simulation::Run& run : runs) {
        if (run.metrics.moves == 0) continue;
        text += (text.empty() ? "" : ", ") + printable(run.policy) + " " +
                std::to_string(run.metrics.moves);
    }
    return text.empty() ? "" : "of the pauses moves to other GPUs: " + text + "\n";
}

std::string decimal(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}

}  // namespace

std::string simulate_table(std::span<const simulation::Run> runs, const Style& style) {
    constexpr Align kRight = Align::Right;
    Table table({{.title = "POLICY", .worth = 1, .width_min = 12},
                 {.title = "AVG JCT", .align = kRight},
                 {.title = "MEDIAN", .align = kRight},
                 {.title = "P99", .align = kRight},
                 {.title = "MAX", .align = kRight},
                 {.title = "MAKESPAN", .align = kRight},
                 {.title = "PAUSES", .align = kRight},
                 {.title = "USED", .align = kRight},
                 {.title = "WORST RHO", .align = kRight}});
    for (const simulation::Run& run : runs) {
        const simulation::Metrics& metrics = run.metrics;
        const auto shown = [&](const std::string& figure) {
            return of_finished(metrics.finished, figure);
        };
        table.add_row({run.policy + (run.is_reference ? "*" : ""), shown(time(metrics.avg_jct_s)),
                       shown(time(metrics.median_jct_s)), shown(time(metrics.p99_jct_s)),
                       shown(time(metrics.max_jct_s)), shown(time(metrics.makespan_s)),
                       std::to_string(metrics.pauses),
                       shown(std::to_string(std::llround(metrics.utilization * 100)) + "%"),
                       shown(decimal(metrics.rho_max))});
    }
    const bool has_reference = std::ranges::any_of(runs, &simulation::Run::is_reference);
    return table.render(style) + (has_reference ? "* reference, not what the server runs\n" : "") +
           moves_note(runs);
}

std::string project_table(const simulation::Run& run, const Style& style) {
    constexpr Align kRight = Align::Right;
    Table table({{.title = "PROJECT", .worth = 1, .width_min = 8},
                 {.title = "JOBS", .align = kRight},
                 {.title = "AVG JCT", .align = kRight},
                 {.title = "GPU HOURS", .align = kRight},
                 {.title = "OVER QUOTA", .align = kRight},
                 {.title = "PAUSES", .align = kRight},
                 {.title = "LONGEST WAIT IN QUOTA", .align = kRight}});
    for (const simulation::ProjectFigures& project : run.projects) {
        table.add_row({project.name, std::to_string(project.jobs),
                       of_finished(project.finished, time(project.avg_jct_s)),
                       std::to_string(std::llround(project.gpu_hours)),
                       std::to_string(std::llround(project.over_quota_gpu_hours)),
                       std::to_string(project.pauses), time(project.longest_in_quota_wait_s)});
    }
    return table.render(style);
}

}  // namespace berth::cli
