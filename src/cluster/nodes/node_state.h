// SPDX-License-Identifier: Apache-2.0
//
// What is known of a node, and of a part of a pool? Plain records; cluster.h keeps them consistent.
//
// Two views of every GPU: `Idle` is what could be used this moment, `Coming` what will be free
// once pausing jobs have left. A hold promises capacity of the Coming view to one job.
//     idle = 1000 - used - max(releasing, reserved)        coming = 1000 - used - reserved
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/ids.h"
#include "cluster/nodes/domain_tree.h"
#include "cluster/nodes/gpu_table.h"
#include "model/node/node.h"

namespace berth::cluster {

using base::PoolId;

inline constexpr std::int64_t kUnaccounted = -1;  // a host resource that is not counted

// One host resource of a node: milli-cores or bytes.
struct HostUse {
    std::int64_t capacity = kUnaccounted;
    std::int64_t used = 0;
    std::int64_t releasing = 0;
    std::int64_t reserved = 0;

    // INT64_MAX when not accounted.
    std::int64_t free(View view) const;
    // Whether some of it is being left and not reserved.
    bool is_being_left() const { return releasing > reserved; }
};

// Where the processes of a frozen job are, of how many tasks, and the host memory that they take
// there, in whole MiB. In few bits, for a job is small: what is more than 4 TiB counts as that.
struct Pinned {
    base::NodeId node;  // not valid: there are none
    std::uint32_t mebibytes : 22 = 0;
    std::uint32_t tasks : 10 = 0;

    static Pinned on(base::NodeId node, base::Bytes memory, std::size_t tasks) {
        Pinned pinned{node};
        pinned.mebibytes =
            static_cast<std::uint32_t>(std::min(memory.value >> 20, std::int64_t{0x3fffff})) &
            0x3fffffU;
        pinned.tasks = static_cast<std::uint32_t>(tasks) & 0x3ffU;
        return pinned;
    }
    std::int64_t memory() const { return std::int64_t{mebibytes} << 20; }
};

// A part of a pool: one domain of it, or one node alone.
struct Region {
    DomainId domain = kWholePool;  // not valid: nowhere
    NodeId node;  // when valid, this node alone

    bool operator==(const Region&) const = default;
    bool is_whole_pool() const { return domain == kWholePool && !node.is_valid(); }
    bool is_nowhere() const { return !domain.is_valid(); }
};

struct NodeState {
    PoolId pool;
    DomainId domain;  // the innermost one it is in, of its pool
    std::uint32_t first_gpu = 0;  // position of its GPUs in the table of GPUs
    std::uint32_t words = 0;  // position of its labels and places (node_kinds.h)
    // Another one whenever a task comes, starts, is asked to leave or has left, and when a job to
    // which GPUs here are promised changes.
    std::uint32_t stamp = 0;
    std::uint16_t kind = 0;
    std::uint8_t gpus = 0;
    bool is_ready : 1 = true;  // and in the pool to which it belongs
    model::NodeHealth health : 7 = model::NodeHealth::Ready;  // in one byte: there are many nodes
    std::array<std::uint64_t, 2> whole{};  // by View: GPUs entirely free
    HostUse cpu;
    HostUse memory;

    int free_gpus(View view) const { return std::popcount(whole[static_cast<std::size_t>(view)]); }
};

}  // namespace berth::cluster
