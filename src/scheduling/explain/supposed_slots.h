// SPDX-License-Identifier: Apache-2.0
//
// How many tasks of a shape would fit on a node if something were not in the way? By arithmetic;
// what explains why a job waits asks it (lack.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

enum class Moment {
    Now,        // beside what our jobs use and are promised
    WhenEmpty,  // if none of our jobs were there; what others use stays
};

// What is supposed to block no task.
struct Supposed {
    bool are_gpus_of_others_free = false;
    bool is_host_of_others_free = false;  // CPU, memory and other resources
    bool is_host_ignored = false;  // none of that is counted
    std::optional<std::uint32_t> ignored = {};  // a resource that is not counted
};
inline constexpr Supposed kWithoutOthers{true, true};

// At most `tasks`. Now: none on a node that is not ready or not allowed.
int supposed_slots(const PoolView& view, ShapeId shape, NodeId node, Moment moment, int tasks,
                   const Supposed& supposed);

// On a node that is away, if it were back: beside what still runs on its GPUs.
int slots_when_back(const PoolView& view, ShapeId shape, NodeId node, int tasks);

// Whether this many fit on all of them together. Looks at no more nodes than it takes.
bool would_fit(const PoolView& view, ShapeId shape, std::span<const NodeId> nodes, Moment moment,
               int tasks, const Supposed& supposed);

}  // namespace berth::scheduling
