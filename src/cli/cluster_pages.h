// SPDX-License-Identifier: Apache-2.0
//
// What does the whole cluster look like? The pages of top, gpus, project ls, events and status.
#pragma once

#include <span>
#include <string>

#include "cli/job_text.h"
#include "cli/style.h"
#include "cli/table.h"
#include "cli/views.h"

namespace berth::cli {

// One row a GPU.
Table gpu_table(std::span<const GpuView> gpus);

// One row a project, children indented below their department.
Table project_table(std::span<const ProjectView> projects);

// One line an event.
std::string event_line(const EventView& event, base::TimePoint now, TimeForm form,
                       const Style& style);

std::string status_page(const StatusView& status, base::TimePoint now, const Style& style);

struct TopInput {
    std::span<const GpuView> gpus;
    std::span<const ProjectView> projects;
    std::span<const JobView> jobs;
};

// One bar a node, then projects and jobs. At most `rows_max` lines; what is cut is counted.
std::string top_page(const TopInput& input, base::TimePoint now, int rows_max, const Style& style);

// The bars of top alone: "n1  ■■■■■■··  6/8  who".
std::string node_bars(std::span<const GpuView> gpus, const Style& style);

}  // namespace berth::cli
