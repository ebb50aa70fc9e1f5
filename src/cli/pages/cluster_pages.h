// SPDX-License-Identifier: Apache-2.0
//
// What does the whole cluster look like? The pages of top, gpus, project ls and status.
#pragma once

#include <span>
#include <string>

#include "cli/pages/job_table.h"
#include "cli/pages/job_text.h"
#include "cli/terminal/style.h"
#include "cli/terminal/table.h"
#include "codec/api/json_api.h"
#include "codec/api/server_view.h"

namespace berth::cli {

// One row a GPU.
Table gpu_table(std::span<const codec::NodeView> nodes, const codec::NameTable& names);

// One row a project, children indented below their department.
// Wide: with the order of jobs and the tail that each says itself.
Table project_table(std::span<const codec::ProjectView> projects, Detail detail = Detail::Usual);
// The projects with their own order of jobs or rule for idle ones, in a line; empty when there are
// none.
std::string orders_note(std::span<const codec::ProjectView> projects);

std::string status_page(const codec::ServerView& server, base::TimePoint now, const Style& style);

struct TopInput {
    std::span<const codec::NodeView> nodes;
    std::span<const codec::ProjectView> projects;
    std::span<const codec::JobView> jobs;
    const codec::NameTable& node_jobs;      // names of the jobs on the nodes
    const codec::NameTable& names;          // names of nodes and jobs among `jobs`
};

// One bar a node, then projects and jobs. At most `rows_max` lines; what is cut is counted.
std::string top_page(const TopInput& input, base::TimePoint now, int rows_max, const Style& style);

// What others use of a node: "2 GPUs, 4 CPUs, 16G of memory", "nothing".
std::string others_text(const model::OthersUse& use);

// The bars of top alone: "n1  ■■■■■■··  6/8  who".
std::string node_bars(std::span<const codec::NodeView> nodes, const codec::NameTable& names,
                      const Style& style);

}  // namespace berth::cli
