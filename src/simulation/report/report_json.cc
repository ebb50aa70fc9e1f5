// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "codec/text/json_writer.h"
#include "simulation/report/report.h"

namespace berth::simulation {
namespace {

std::string decimal(double value) {
    constexpr int kPlaces = 6;
    char text[64];
    const auto [end, error] =
        std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, kPlaces);
    (void)error;
    std::string_view digits(text, static_cast<std::size_t>(end - text));
    while (digits.ends_with('0')) digits.remove_suffix(1);
    if (digits.ends_with('.')) digits.remove_suffix(1);
    return std::string(digits);
}

// What only a cluster with quotas has: the worst of the waits, and each project's account.
void add_projects(codec::JsonWriter& json, std::span<const ProjectFigures> projects) {
    double longest = 0;
    for (const ProjectFigures& project : projects) {
        longest = std::max(longest, project.longest_in_quota_wait_s);
    }
    json.key("longest_in_quota_wait_s");
    json.raw(decimal(longest));
    json.key("projects");
    json.begin_array();
    for (const ProjectFigures& project : projects) {
        json.begin_object();
        json.key("name");
        json.string(project.name);
        json.key("jobs");
        json.number(static_cast<std::int64_t>(project.jobs));
        json.key("finished");
        json.number(static_cast<std::int64_t>(project.finished));
        json.key("avg_jct_s");
        json.raw(decimal(project.avg_jct_s));
        json.key("gpu_hours");
        json.raw(decimal(project.gpu_hours));
        json.key("over_quota_gpu_hours");
        json.raw(decimal(project.over_quota_gpu_hours));
        json.key("pauses");
        json.number(project.pauses);
        json.key("moves");
        json.number(project.moves);
        json.key("longest_in_quota_wait_s");
        json.raw(decimal(project.longest_in_quota_wait_s));
        json.key("own_order");
        if (project.own_order.empty()) json.null();
        if (!project.own_order.empty()) json.string(project.own_order);
        json.end_object();
    }
    json.end_array();
}

}  // namespace

std::string json_report(std::span<const Run> runs) {
    std::string text;
    codec::JsonWriter json(text);
    json.begin_array();
    for (const Run& run : runs) {
        const Metrics& metrics = run.metrics;
        const auto count = [&](std::string_view key, std::int64_t value) {
            json.key(key);
            json.number(value);
        };
        const auto figure = [&](std::string_view key, double value) {
            json.key(key);
            json.raw(decimal(value));
        };
        json.begin_object();
        json.key("policy");
        json.string(run.policy);
        json.key("reference");
        json.boolean(run.is_reference);
        count("jobs", static_cast<std::int64_t>(metrics.jobs));
        count("finished", static_cast<std::int64_t>(metrics.finished));
        figure("avg_jct_s", metrics.avg_jct_s);
        figure("median_jct_s", metrics.median_jct_s);
        figure("p95_jct_s", metrics.p95_jct_s);
        figure("p99_jct_s", metrics.p99_jct_s);
        figure("max_jct_s", metrics.max_jct_s);
        figure("makespan_s", metrics.makespan_s);
        figure("avg_queue_s", metrics.avg_queue_s);
        count("pauses", metrics.pauses);
        count("moves", metrics.moves);
        figure("utilization", metrics.utilization);
        figure("fragmentation", metrics.fragmentation);
        figure("rho_mean", metrics.rho_mean);
        figure("rho_max", metrics.rho_max);
        figure("unfair_share", metrics.unfair_share);
        figure("static_rho_max", metrics.static_rho_max);
        figure("static_unfair_share", metrics.static_unfair_share);
        count("events", run.replay.events);
        if (!run.projects.empty()) add_projects(json, run.projects);
        json.end_object();
    }
    json.end_array();
    return text;
}

}  // namespace berth::simulation
