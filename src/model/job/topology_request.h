// SPDX-License-Identifier: Apache-2.0
//
// Which tasks of a gang are to stand together? Levels are such as "rack", or "node" (node.h).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace berth::model {

inline constexpr int kTaskGroupsMax = 256;

// Tasks of a gang that need each other most. Their ranks follow those of the group before, as many
// as its maximum; the gang starts when every group has its minimum, or as many as it says.
struct TaskGroup {
    std::string name;
    int tasks_min = 1;
    int tasks_max = 1;
    std::string level;  // all of them in one domain of it; empty = no wish of its own

    bool operator==(const TaskGroup&) const = default;
};

// Which tasks of a gang are to stand together: levels such as "rack", or "node"
// (model/node/node.h).
struct TopologyRequest {
    // All tasks in one domain of this level or not at all; empty = anywhere.
    std::string required = {};
    // Likewise if there is room, else level by level further out; inside the required level;
    // empty = no wish.
    std::string preferred = {};
    // Parts of the gang that stand together on top of that; empty = the gang is one.
    std::vector<TaskGroup> groups = {};
    // The number of them that start together, where all are alike and of a fixed size; the others
    // come and go as whole groups while there are GPUs for them. 0 = all start together.
    int groups_min = 0;

    bool operator==(const TopologyRequest&) const = default;
};

// Whether a gang's tasks are put on the fewest nodes.
enum class Placement {
    Auto,  // when its largest tensor is so large a part of its model that the policy says so
    Consolidate,  // yes; a preferred level goes before it
    Any,  // no, not even a preferred level counts
};
inline constexpr std::array<std::string_view, 3> kPlacementNames{"auto", "consolidate", "any"};

}  // namespace berth::model
