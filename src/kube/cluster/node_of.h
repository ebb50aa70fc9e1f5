// SPDX-License-Identifier: Apache-2.0
//
// What is a node of the API server to the core?
//
// GPUs are those of `nvidia.com/gpu` that the node says can be given out, at most kGpusPerNodeMax;
// model and memory are the labels of NVIDIA's feature discovery. A node that is not ready is Down;
// one that is cordoned has the taint that Kubernetes gives it, so that who tolerates it still
// comes.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "kube/objects/node.h"
#include "model/node/node.h"

namespace berth::kube::cluster {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

using Counted = std::set<std::string, std::less<>>;

model::Node node_of(const objects::Node& node, const Counted& counted);

// Whether the core has a field of its own for it.
bool has_a_field(std::string_view resource);
// What a pod or a node has of them, or of all without such a field.
model::Resources resources_of(const objects::Amounts& amounts, const Counted& counted);
model::Resources resources_of(const objects::Amounts& amounts);

}  // namespace berth::kube::cluster
