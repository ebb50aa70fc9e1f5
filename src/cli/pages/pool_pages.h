// SPDX-License-Identifier: Apache-2.0
//
// Which nodes stand in which pools, and why? The pages of pool ls, pool show and node ls.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/terminal/style.h"
#include "cli/terminal/table.h"
#include "codec/api/json_api.h"

namespace berth::cli {

// One row a pool.
Table pool_table(std::span<const codec::PoolView> pools);
// One row a node.
Table node_table(std::span<const codec::NodeView> nodes, const codec::NameTable& names);

struct PoolPage {
    const codec::PoolView& pool;
    std::span<const codec::NodeView> nodes;        // of all pools
    std::span<const codec::ProjectView> projects;  // in all pools
    const codec::NameTable& names;
};
std::string pool_page(const PoolPage& page, const Style& style);

// What the projects have in this pool alone, and which rights.
std::vector<codec::ProjectView> in_pool(std::vector<codec::ProjectView> projects,
                                        const std::string& pool);

}  // namespace berth::cli
