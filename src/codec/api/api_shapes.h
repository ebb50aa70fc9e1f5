// SPDX-License-Identifier: Apache-2.0
//
// What does the API show in another shape than the model has it? Its own types for that, and what
// each stands for; ApiStyle goes from one to the other.
#pragma once

#include <optional>
#include <vector>

#include "codec/fields/described.h"
#include "model/project.h"
#include "model/record.h"

namespace berth::codec {

// Whole numbers that are shown as decimals: 1500 as 1.5, and 250000 as 0.25.
struct Thousandths {
    std::int64_t value = 0;
};
struct Millionths {
    std::int64_t value = 0;
};

// A task's place with its GPUs as a list of indices.
struct TaskPlace {
    int task = 0;
    model::NodeId node;
    std::vector<int> gpus;
    model::MilliGpu share;
    model::MilliCpu cpu;
    model::Bytes memory;
    model::Bytes gpu_memory;
    model::MilliGpu memory_share;
};
template <>
struct Fields<TaskPlace> {
    static void visit(auto&& field) {
        field("task", &TaskPlace::task);
        field("node", &TaskPlace::node);
        field("gpus", &TaskPlace::gpus);
        field("share", &TaskPlace::share);
        field("cpu", &TaskPlace::cpu);
        field("memory", &TaskPlace::memory);
        field("gpu_memory", &TaskPlace::gpu_memory);
        field("memory_share", &TaskPlace::memory_share);
    }
};

// The rights of a project in a pool.
struct ProjectRights {
    std::optional<model::MilliGpu> quota;
    model::MilliGpu limit = model::kUnlimited;
    std::optional<model::MilliCpu> cpu_quota;
    std::optional<model::Bytes> memory_quota;
    std::optional<model::MilliCpu> cpu_limit;
    std::optional<model::Bytes> memory_limit;
    Thousandths weight;
    int priority = 0;
    model::QuotaKind kind = model::QuotaKind::Guaranteed;
    Millionths usage;
};
template <>
struct Fields<ProjectRights> {
    static void visit(auto&& field) {
        field("quota", &ProjectRights::quota);
        field("limit", &ProjectRights::limit);
        field("cpu_quota", &ProjectRights::cpu_quota);
        field("memory_quota", &ProjectRights::memory_quota);
        field("cpu_limit", &ProjectRights::cpu_limit);
        field("memory_limit", &ProjectRights::memory_limit);
        field("weight", &ProjectRights::weight);
        field("priority", &ProjectRights::priority);
        field("kind", &ProjectRights::kind);
        field("usage", &ProjectRights::usage);
    }
};

TaskPlace shape_of(const model::TaskPlacement& task);
// False when one of the GPUs cannot be.
bool restore(const TaskPlace& shape, model::TaskPlacement& task);
ProjectRights shape_of(const model::Entitlement& rights);
void restore(const ProjectRights& shape, model::Entitlement& rights);

// As what a type is shown.
template <typename T>
struct Shape {
    using Type = T;
};
template <>
struct Shape<model::TaskPlacement> {
    using Type = TaskPlace;
};
template <>
struct Shape<model::Entitlement> {
    using Type = ProjectRights;
};

}  // namespace berth::codec
