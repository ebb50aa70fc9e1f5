// SPDX-License-Identifier: Apache-2.0
//
// What does Berth keep of a pod? What it requests and where it may run (the same for all pods of a
// template, so kept once), where it is, and how far. Everything else is skipped.
// Cost: about 300 bytes for a pod of a set of many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/amounts.h"
#include "kube/objects/meta.h"

namespace berth::kube::objects {

enum class Operator { In, NotIn, Exists, DoesNotExist, Gt, Lt, Unknown };

// One condition on a label, or on a node's name.
struct Requirement {
    enum class On { Label, Field };

    On on = On::Label;
    Word key;
    Operator op = Operator::Unknown;
    std::vector<Word> values;

    bool operator==(const Requirement&) const = default;
};
using NodeTerm = std::vector<Requirement>;  // all of them

struct Toleration {
    Word key;  // empty: every key
    bool is_exists = false;  // whatever the taint's value
    Word value;
    Word effect;  // empty: every effect

    bool operator==(const Toleration&) const = default;
};

// What a pod may say that Berth does not do: it is refused with the field's name.
enum class Unsupported {
    PodAffinity,
    PodAntiAffinity,
    TopologySpread,
    HostPort,
    VolumeClaim,
    Disk,
    ResourceClaim,
};

// What a pod asks, the same for all pods of a template.
struct PodAsk {
    Amounts requests;  // what the scheduler counts, "pods" not among them
    Word scheduler;
    Word priority_class;
    std::int32_t priority = 0;
    bool may_preempt = true;  // preemptionPolicy is not Never
    std::int64_t grace_s = 30;
    Labels node_selector;
    std::vector<NodeTerm> node_terms;  // any of them; none: every node
    std::vector<Toleration> tolerations;
    std::vector<Unsupported> unsupported;  // in the order of the enum, each once

    bool operator==(const PodAsk&) const = default;
};
std::size_t hash_of(const PodAsk& ask);

enum class Phase { Pending, Running, Succeeded, Failed, Unknown };

struct Pod {
    Meta meta;
    Interned<PodAsk> ask;
    Word node;  // empty: not bound
    Word nominated_node;
    // What it holds where its kubelet says something else than `ask`, as it is resized.
    Interned<Amounts> resized;
    Phase phase = Phase::Pending;
    bool is_gated = false;
    // Since when the condition PodScheduled is as it is, and why it is False.
    std::optional<base::TimePoint> scheduled_since;
    Word unscheduled_reason;

    const Amounts& held() const { return resized ? *resized : ask->requests; }
    bool is_over() const { return phase == Phase::Succeeded || phase == Phase::Failed; }
    // It takes what it holds of its node.
    bool is_bound() const { return !node->empty() && !is_over(); }
};

struct PodPools {
    MetaPools meta;
    Pool<Amounts> amounts;
    Pool<PodAsk> asks;
};

Pod read_pod(codec::JsonReader& reader, PodPools& pools);

// What pods of a template will ask, before any is there. Admission may say more of them: their
// scheduler, the number of their priority; and the controller of their kind labels them.
struct PodTemplate {
    Interned<PodAsk> ask;
    Interned<Labels> labels;
};
PodTemplate read_template(codec::JsonReader& reader, PodPools& pools);

// Of a label: an entry of matchExpressions.
Requirement read_requirement(codec::JsonReader& reader, MetaPools& pools);

}  // namespace berth::kube::objects
