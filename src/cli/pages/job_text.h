// SPDX-License-Identifier: Apache-2.0
//
// How is a job described in words? The phrases shared by ls, show, why, top and run.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/style.h"
#include "cli/terminal/table.h"
#include "cli/terminal/time_text.h"
#include "codec/api/json_api.h"

namespace berth::cli {

// "RUNNING" with its tone; NEVER for a job that no state of the cluster would fit.
Cell state_cell(const codec::JobView& job);
// The state as a lower case word, "never" included.
std::string_view state_word(const codec::JobView& job);

// "n1:0-7,n2:3"; many nodes: "12 nodes"; nowhere: "-".
std::string where_text(const std::vector<model::TaskPlacement>& tasks,
                       const codec::NameTable& names);
// The GPUs of a bit set: "0-3,5".
std::string gpu_ranges(std::uint64_t gpu_mask);
// "n1", or "node 7" when the name is not known.
std::string node_name(model::NodeId node, const codec::NameTable& names);

// "38 % of a GPU's time and 9.2G of its memory, in iterations of 120ms"
std::string profile_text(const model::GpuProfile& profile);
// What the job asks for: "8 H100", "2x0.5", "12G".
std::string gpus_text(const model::JobRecord& job);
// The same in words: "0.5 of a GPU, at most 0.8 of its time", "8 H100 GPUs as 8 tasks, all at
// once".
std::string asks_text(const model::JobRecord& job);
// How long it runs, waits or ran: "3h12m".
std::string run_or_wait(const model::JobRecord& job, base::TimePoint now);
// Why it waits, how far it is, or how it ended.
std::string progress_text(const codec::JobView& job, const codec::NameTable& names,
                          base::TimePoint now, const Glyphs& glyphs);

// `llama-ft`, or `job 12` when it has no name.
// "idle 32m, parked in 8m", of a job that was warned.
std::string idleness_text(const model::IdleWarning& idle, base::TimePoint now);
std::string job_title(const model::JobRecord& record);
// Another job as "12 nlp/llama-ft".
std::string named(model::JobId job, const codec::NameTable& names);

// "1 GPU", "0.5 GPU", "8 GPUs"
std::string gpu_count(model::MilliGpu amount);
// "12 GPU-s", "0.4 GPU-h"
std::string gpu_time(std::int64_t gpu_ms);
// "1st", "2nd", "11th"
std::string ordinal(int number);

std::string_view rule_word(model::Rule rule);
// Why a job is paused by it: "a project below its quota reclaimed lent GPUs"; empty where
// that follows from who asked.
std::string_view rule_meaning(model::Rule rule);

}  // namespace berth::cli
