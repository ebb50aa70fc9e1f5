// SPDX-License-Identifier: Apache-2.0
//
// What may people say in a Project, a Pool and the Policy? One table for each: the reader
// (declared.h) and the schema by which the API server checks (kube/install/schema.h) are made from
// it, so neither knows a field that the other does not.
//
// Names and meanings are those of the state file (docs/reference/state-file.md), written as
// Kubernetes writes names: preemption_delay is preemptionDelay. A pool's `labels` are nodeSelector.
// A test reads each field both ways.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/text/json_reader.h"
#include "model/description.h"
#include "model/policy/policy_settings.h"

namespace berth::kube::objects {

// A label of a Project's namespaces, and of pods, has its name: Kubernetes takes no longer one.
inline constexpr std::size_t kDeclaredNameMax = 63;
inline constexpr std::size_t kNamespacesMax = 256;  // of one Project
inline constexpr std::size_t kNodeLabelsMax = 32;  // of one Pool
inline constexpr std::size_t kExchangeModelsMax = 64;

// What the value of a field looks like.
enum class FieldType {
    Gpus,  // a number of GPUs, or -1 for no bound
    Cores,  // a number of cores, or -1 for none
    Memory,  // "64G", or "none"
    Weight,
    Priority,
    QuotaKind,
    ProjectName,
    PoolName,
    Time,  // "90s", "1h30m"
    JobOrder,
    OrderTail,
    Pools,  // map from pool to rights
    Namespaces,
    NodeLabels,
    Exchange,  // map from GPU model to weight
    Profile,
    Levels,
    Settings,  // map from setting to text
};

template <typename Spec>
struct SpecField {
    std::string_view name;
    FieldType form;
    std::string_view means;  // for kubectl explain
    // Errors: Invalid, what was wanted and what was found. Reads the value whatever it is.
    base::Status (*read)(codec::JsonReader& reader, Spec& spec);
};

struct ProjectSpec {
    model::Project project;  // `pools` is filled from pool_rights at the end
    std::vector<std::string> namespaces;
    // Each entry of `pools`, to be read when the rights it falls back to are known.
    std::vector<std::pair<std::string, codec::JsonReader>> pool_rights;
};

struct PolicySpec {
    std::string profile = "berth";
    model::Levels levels = model::default_levels();
    model::PolicyChanges settings;
};

std::span<const SpecField<model::Entitlement>> rights_fields();
// Beside those of rights_fields().
std::span<const SpecField<ProjectSpec>> project_fields();
std::span<const SpecField<model::Pool>> pool_fields();
std::span<const SpecField<PolicySpec>> policy_fields();

}  // namespace berth::kube::objects
