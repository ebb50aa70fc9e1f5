// SPDX-License-Identifier: Apache-2.0
//
// Which job do a job file and the flags of run and submit describe together? A flag has the name
// of the field of the job file that it sets, and goes before it.
#pragma once

#include <string>

#include "cli/arguments.h"
#include "model/submission.h"

namespace berth::cli {

inline constexpr Flag kGpusFlag{'g', "gpus", "REQUEST",
                                "2, 0.5, 12G, 2x0.5, H100:2, 4..16 (1 unless said)"};
inline constexpr Flag kProjectFlag{'p', "project", "PROJECT", "who pays with quota",
                                   Completes::Projects};
inline constexpr Flag kNameFlag{'n', "name", "NAME", "of the job"};
inline constexpr Flag kKindFlag{0,
                                "kind",
                                "KIND",
                                "train, build (interactive) or inference",
                                Completes::Choices,
                                "train|build|inference"};
inline constexpr Flag kNodesFlag{0, "nodes", "N", "so many tasks, each with these GPUs"};
inline constexpr Flag kTasksFlag{0, "tasks", "N", "a gang: 4, or 4..16"};
inline constexpr Flag kCpusFlag{0, "cpus", "CORES",
                                "of each task; else the GPUs' part of the node"};
inline constexpr Flag kMemoryFlag{0, "memory", "BYTES", "of each task: 64G"};
inline constexpr Flag kWorkdirFlag{0, "workdir", "DIR", "where it runs; here unless said",
                                   Completes::Files};
inline constexpr Flag kEnvFlag{0, "env", "NAME=VALUE", "added to your environment; repeatable"};
inline constexpr Flag kPriorityFlag{0, "priority", "N", "higher goes first inside the project"};
inline constexpr Flag kDelayFlag{0, "delay", "TIME",
                                 "wait so long before others are paused for it"};
inline constexpr Flag kPoolFlag{0, "pool", "POOL", "in order of preference; repeatable"};
inline constexpr Flag kRequiredFlag{0, "required", "LEVEL", "all tasks in one: rack, node"};
inline constexpr Flag kPreferredFlag{0, "preferred", "LEVEL", "the same if there is room"};
inline constexpr Flag kSignalFlag{0,
                                  "pause-signal",
                                  "SIGNAL",
                                  "that asks it to save and stop",
                                  Completes::Choices,
                                  "auto|TERM|INT|USR1|USR2|none"};
inline constexpr Flag kRuntimeFlag{0, "time", "TIME",
                                "how long it runs, for planning: 2h; not a limit"};
inline constexpr Flag kGraceFlag{0, "grace", "TIME", "how long it may take to save: 120s"};
inline constexpr Flag kCheckpointFlag{0, "checkpoint", "DIR", "kept over pauses, told to the job",
                                      Completes::Files};

// `file` is a job file, or empty. Its environment is the caller's with what file and flags say.
// Errors: bad usage; those of a file are "FILE:LINE: field: wanted ..., found ...".
Outcome<model::Submission> submission_of(const Arguments& arguments, const std::string& file);

}  // namespace berth::cli
