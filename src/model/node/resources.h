// SPDX-License-Identifier: Apache-2.0
//
// What does a node have beside GPUs, CPU and memory, such as network cards ("rdma/hca"), disk
// ("ephemeral-storage") or huge pages, and how much of it does a task ask? By name, in the unit of
// each: bytes or pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/quantity.h"

namespace berth::model {

using Resources = std::map<std::string, std::int64_t>;

// How many tasks a node takes. Where a node says it each task takes one, without asking.
inline constexpr const char* kPodsResource = "pods";

inline constexpr std::size_t kResourcesMax = 8;  // names that nodes of one cluster have said

// "2 rdma/hca", "10G of ephemeral-storage".
inline std::string format_resource(const std::string& name, std::int64_t amount) {
    constexpr std::int64_t kBytesFrom = std::int64_t{1} << 20;  // no node has this many
    if (amount < kBytesFrom) return std::to_string(amount) + " " + name;
    return base::format(base::Bytes{amount}) + " of " + name;
}

}  // namespace berth::model
