// SPDX-License-Identifier: Apache-2.0
#include "kube/people/work_table.h"

#include "cli/pages/job_text.h"

namespace berth::kube::people {
namespace {

constexpr std::size_t kNodesInRow = 2;

std::string where(const Work& work) {
    if (work.nodes.empty()) return "-";
    if (work.nodes.size() > kNodesInRow) return std::to_string(work.nodes.size()) + " nodes";
    std::string text;
    for (const auto& [node, pods] : work.nodes) text += (text.empty() ? "" : ",") + node;
    return text;
}

std::string how_long(const codec::JobView& job, base::TimePoint now) {
    const bool is_known = !model::is_final(job.state) || (job.first_start && job.finished);
    return is_known ? cli::run_or_wait(job, now) : "-";
}

std::string progress(const Work& work) {
    if (!work.job.why.empty() || work.job.pauses == 0) return work.job.why;
    return "paused " + std::to_string(work.job.pauses) +
           (work.job.pauses == 1 ? " time" : " times");
}

}  // namespace

std::string name_in(const Work& work, Namespaces namespaces) {
    return namespaces == Namespaces::One ? work.name : work.name_space + "/" + work.name;
}

cli::Table work_table(std::span<const Work> works, Namespaces namespaces, base::TimePoint now) {
    cli::Table table({{.title = "NAME", .worth = 10, .width_min = 18},
                      {.title = "PROJECT", .worth = 2, .width_min = 7},
                      {.title = "GPUS"},
                      {.title = "STATE"},
                      {.title = "WHERE", .worth = 2, .width_min = 7},
                      {.title = "RUN/WAIT", .align = cli::Align::Right},
                      {.title = "WHY / PROGRESS", .worth = 7, .width_min = 14}});
    for (const Work& work : works) {
        const std::string& project = work.job.spec.project;
        table.add_row({name_in(work, namespaces), project.empty() ? "-" : project,
                       cli::gpus_text(work.job), cli::state_cell(work.job), where(work),
                       how_long(work.job, now), progress(work)});
    }
    return table;
}

}  // namespace berth::kube::people
