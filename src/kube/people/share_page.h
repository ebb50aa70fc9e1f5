// SPDX-License-Identifier: Apache-2.0
//
// What does berth kube fairshare show? The Projects as a tree, with what each has in each pool, as
// the scheduler wrote it into their status: ten seconds old at most.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/style.h"
#include "cli/terminal/table.h"
#include "kube/people/read.h"

namespace berth::kube::people {

// A project and those below it, parents before children, older before younger; of an empty name
// all. One whose parent is not there counts as topmost.
struct Branch {
    struct Row {
        const ReadProject* project;
        int depth;
    };
    std::vector<Row> rows;
};
Branch branch_of(const Read& read, std::string_view project);

// Pools in which it has rights or uses something; at least the first one.
std::vector<std::string> pools_of(const Read& read, const ReadProject& project);

cli::Table share_table(const Read& read, const Branch& branch);

// "vision is entitled to 10 GPUs of the pool default now", a line for each pool.
std::string entitlement_lines(const Read& read, const ReadProject& project,
                              const cli::Style& style);

}  // namespace berth::kube::people
