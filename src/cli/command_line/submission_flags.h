// SPDX-License-Identifier: Apache-2.0
//
// Which job do a job file and the flags of run and submit describe together? A flag has the name
// of the field of the job file that it sets, and goes before it.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "cli/command_line/arguments.h"
#include "model/fields/job_fields.h"
#include "model/job/submission.h"

namespace berth::cli {

// Of what the fields of a job say together, or in a way of their own, and of what is launched.
inline constexpr auto kOtherSubmissionFlags = std::to_array<Flag>({
    {.letter = 'g',
     .name = "gpus",
     .value = "REQUEST",
     .help = "GPUs per task: 2, 0.5, 12G, H100:2, 4..16@rack (default: 1)",
     .fields = "gpus gpu_model gpu_memory gpu_memory_max"},
    {0, "cap", "PART", "most of each GPU's time, where it has a part: 0.8"},
    {.name = "nodes",
     .value = "N",
     .help = "number of tasks, each with these GPUs",
     .fields = "nodes tasks"},
    {0, "tasks", "N", "number of tasks in the gang: 4, or 4..16"},
    {0, "groups", "GROUPS", "parts of the gang: 4x8@rack, a:4@node,b:8..16@rack"},
    {.name = "cpus",
     .value = "CORES",
     .help = "CPUs per task (default: in proportion to GPUs)",
     .fields = "cpus cpu"},
    {0, "memory", "BYTES", "memory per task: 64G (default: likewise)"},
    {0, "workdir", "DIR", "working directory (default: current)", Completes::Files},
    {0, "env", "NAME=VALUE", "environment variable to add; repeatable"},
    {.name = "required",
     .value = "LEVEL",
     .help = "topology level shared by all tasks: rack, node",
     .fields = "required topology"},
    {.name = "preferred",
     .value = "LEVEL",
     .help = "the same, if there is room",
     .fields = "preferred topology"},
    {.name = "pause-signal",
     .value = "SIGNAL",
     .help = "signal that asks the job to save and stop",
     .completes = Completes::Choices,
     .choices = "auto|TERM|INT|USR1|USR2|none",
     .fields = "signal"},
    {0, "grace", "TIME", "time to save before a pause kills it: 120s"},
    {.name = "checkpoint",
     .value = "DIR",
     .help = "folder kept over pauses, $BERTH_CHECKPOINT_DIR",
     .completes = Completes::Files,
     .fields = "checkpoint checkpoint_dir"},
});

// Calls `visit` with each field of a job that has a flag, and its member.
constexpr void visit_flagged(auto&& visit) {
    model::Fields<model::JobSpec>::visit_fields([&](const model::JobField& field, auto member) {
        if (field.flag.place > 0) visit(field, member);
    });
}

consteval std::size_t count_flagged() {
    std::size_t count = 0;
    visit_flagged([&](const model::JobField&, auto) { ++count; });
    return count;
}

constexpr Flag flag_of(const model::JobField& field) {
    const model::JobFlag& flag = field.flag;
    const Completes completes = flag.value == "PROJECT" ? Completes::Projects
                                : flag.choices.empty()  ? Completes::Nothing
                                                        : Completes::Choices;
    return {flag.letter, flag.name,    flag.value,    flag.help,
            completes,   flag.choices, flag.formerly, field.name};
}

// What describes a job, in the order of the help pages: the fields at their places, the others
// between them.
inline constexpr auto kSubmissionFlags = [] {
    std::array<Flag, kOtherSubmissionFlags.size() + count_flagged()> all{};
    visit_flagged([&](const model::JobField& field, auto) {
        all.at(static_cast<std::size_t>(field.flag.place) - 1) = flag_of(field);
    });
    const Flag* other = kOtherSubmissionFlags.data();
    for (Flag& flag : all) {
        if (flag.name.empty()) flag = *other++;
    }
    return all;
}();

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
