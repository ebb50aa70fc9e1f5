// SPDX-License-Identifier: Apache-2.0
//
// Which job do a job file and the flags of run and submit describe together? A flag has the name
// of the field of the job file that it sets, and goes before it.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "cli/arguments.h"
#include "model/submission.h"

namespace berth::cli {

// What describes a job, in the order of the help pages.
inline constexpr auto kSubmissionFlags = std::to_array<Flag>({
    {'g', "gpus", "REQUEST", "2, 0.5, 12G, H100:2, 4..16@rack (1 unless said)"},
    {'p', "project", "PROJECT", "who pays with quota", Completes::Projects},
    {'n', "name", "NAME", "of the job"},
    {0, "kind", "KIND", "train, build (interactive) or inference", Completes::Choices,
     "train|build|inference"},
    {0, "nodes", "N", "so many tasks, each with these GPUs"},
    {0, "tasks", "N", "a gang: 4, or 4..16"},
    {0, "groups", "GROUPS", "parts of a gang: 4x8@rack, a:4@node,b:8..16@rack"},
    {0, "may-share", "", "its GPU, with a job that leaves half idle as well"},
    {0, "cpus", "CORES", "of each task; else the GPUs' part of the node"},
    {0, "memory", "BYTES", "of each task: 64G"},
    {0, "workdir", "DIR", "where it runs; here unless said", Completes::Files},
    {0, "env", "NAME=VALUE", "added to your environment; repeatable"},
    {0, "priority", "N", "higher goes first inside the project"},
    {.name = "preemption-delay",
     .value = "TIME",
     .help = "wait before it may preempt other jobs: 5m",
     .formerly = "delay"},
    {0, "pool", "POOL", "in order of preference; repeatable"},
    {0, "required", "LEVEL", "all tasks in one: rack, node"},
    {0, "preferred", "LEVEL", "the same if there is room"},
    {0, "pause-signal", "SIGNAL", "that asks it to save and stop", Completes::Choices,
     "auto|TERM|INT|USR1|USR2|none"},
    {.name = "expected-time",
     .value = "TIME",
     .help = "expected run time, for planning; no limit: 2h",
     .formerly = "time"},
    {0, "park-after", "TIME", "off its GPUs when unused for so long: 30m, never"},
    {0, "grace", "TIME", "how long it may take to save: 120s"},
    {0, "checkpoint", "DIR", "kept over pauses, told to the job", Completes::Files},
});

// The flags of a verb that has both lists, in this order.
template <std::size_t A, std::size_t B>
constexpr std::array<Flag, A + B> joined(const std::array<Flag, A>& first,
                                         const std::array<Flag, B>& second) {
    std::array<Flag, A + B> all{};
    std::ranges::copy(first, all.begin());
    std::ranges::copy(second, all.begin() + A);
    return all;
}

// `file` is a job file, or empty. Its environment is the caller's with what file and flags say.
// Errors: bad usage; those of a file are "FILE:LINE: field: wanted ..., found ...".
Outcome<model::Submission> submission_of(const Arguments& arguments, const std::string& file);

}  // namespace berth::cli
