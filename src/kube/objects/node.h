// SPDX-License-Identifier: Apache-2.0
//
// What does Berth keep of a node? What it offers, by what it may be chosen, and whether it is well.
#pragma once

#include <optional>
#include <vector>

#include "kube/objects/amounts.h"
#include "kube/objects/meta.h"

namespace berth::kube::objects {

struct Taint {
    Word key;
    Word value;
    Word effect;  // NoSchedule, PreferNoSchedule, NoExecute
};

struct Node {
    Meta meta;
    bool is_unschedulable = false;  // cordoned
    std::vector<Taint> taints;
    Interned<Amounts> allocatable;
    bool is_ready = false;
    std::optional<base::TimePoint> ready_since;  // or not ready since
};

struct NodePools {
    MetaPools meta;
    Pool<Amounts> amounts;
};

Node read_node(codec::JsonReader& reader, NodePools& pools);

}  // namespace berth::kube::objects
