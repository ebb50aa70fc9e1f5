// SPDX-License-Identifier: Apache-2.0
//
// What is free on each node, and what does each project hold? The sums that the judge makes anew.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "resource_rule.h"

namespace berth::proof {

enum class Host { Cpu, Memory };

// What is free and who holds how much; pieces can be taken out of it.
struct Room {
    struct Node {
        std::vector<Part> gpus;  // what is free of each
        int owed = 0;  // GPUs that others use and found not free: theirs as soon as some are
        std::int64_t cpu = 0;
        std::int64_t memory = 0;
        Amounts resources;
    };
    std::vector<Node> nodes;
    std::vector<std::int64_t> allocated;        // by project, subtree included
    std::vector<std::int64_t> not_preemptible;  // the part of it
    struct Host {
        std::vector<std::int64_t> all;
        std::vector<std::int64_t> not_preemptible;
    };
    std::map<proof::Host, Host> host;  // that tasks name, in the same way
};

}  // namespace berth::proof
