// SPDX-License-Identifier: Apache-2.0
//
// What is a slice of a GPU that the hardware cuts (NVIDIA MIG)? A device of a type of its own,
// whose profile is its GPU model: "3g.40gb" has three of a GPU's seven compute slices and 40 GiB.
// Slices of one profile on one machine are a node beside the one with its whole GPUs: they are
// placed, counted and drained like any other, and only jobs that name the profile run there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/node/node.h"

namespace berth::model {

inline constexpr int kMigSlicesPerGpu = 7;

struct MigProfile {
    int slices = 1;    // of kMigSlicesPerGpu
    Bytes memory{0};

    // What one counts as in quotas unless a pool says otherwise: its part of a GPU, in thousandths.
    std::int64_t exchange() const { return (slices * 1000 + 3) / kMigSlicesPerGpu; }
};

// Reads "1g.10gb", "1g.10gb+me" or "7g.80gb"; nothing when it is none.
std::optional<MigProfile> mig_profile(std::string_view text);

// The name of the node that a machine's slices of a profile are: "n1/1g.10gb".
std::string slices_node(const std::string& machine, const std::string& profile);

// The nodes of the slices of a machine whose whole GPUs are `node`, one for each profile, by name:
// "n1/1g.10gb". CPU and host memory are divided in proportion to compute slices; `node` keeps the
// rest. Every profile is one that mig_profile() reads, every count at least 1.
std::vector<Node> split_off_slices(Node& node, const std::map<std::string, int>& counts);

}  // namespace berth::model
