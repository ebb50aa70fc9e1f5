// SPDX-License-Identifier: Apache-2.0
//
// What does Berth keep of a PodDisruptionBudget (policy/v1)? Which pods it selects: that it is
// there is enough, how many of them may go at the moment is not asked.
//
// The safe side: one that cannot be read selects all pods of its namespace, and a condition that
// Berth cannot check holds. A pod that is paused all the same is what its owner wanted to prevent;
// one that is kept without need stays within its project's quota.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/objects/pod.h"

namespace berth::kube::objects {

struct DisruptionBudget {
    Meta meta;
    // All of them hold; none: each pod of its namespace. Without a selector it selects no pod.
    std::optional<std::vector<Requirement>> selector;
    // Why it cannot be read; empty: it was.
    std::string problem;
};

// Without metadata it fails the reader.
DisruptionBudget read_disruption_budget(codec::JsonReader& reader, MetaPools& pools);

// Whether it selects a pod of its namespace that has these labels.
bool selects(const DisruptionBudget& budget, const Labels& labels);

}  // namespace berth::kube::objects
