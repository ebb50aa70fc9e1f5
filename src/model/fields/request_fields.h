// SPDX-License-Identifier: Apache-2.0
//
// Which parts does what a job asks consist of? Each member once, by its name in JSON: job_fields.h
// has the job itself, codec/fields/described.h makes text of both.
#pragma once

#include "model/job/job.h"

namespace berth::model {

// Specialised as: struct { static constexpr void visit(auto&& field) { field("name", &T::name); } }
template <typename T>
struct Fields;

template <>
struct Fields<TaskRequest> {
    static constexpr void visit(auto&& field) {
        field("gpus", &TaskRequest::gpus);
        field("share", &TaskRequest::share);
        field("gpu_memory", &TaskRequest::gpu_memory);
        field("gpu_memory_max", &TaskRequest::gpu_memory_max);
        field("cap", &TaskRequest::cap);
        field("cpu", &TaskRequest::cpu);
        field("memory", &TaskRequest::memory);
        field("resources", &TaskRequest::resources);
    }
};

template <>
struct Fields<GpuPart> {
    static constexpr void visit(auto&& field) {
        field("compute", &GpuPart::compute);
        field("memory", &GpuPart::memory);
    }
};

template <>
struct Fields<TaskGroup> {
    static constexpr void visit(auto&& field) {
        using G = TaskGroup;
        field("name", &G::name);
        field("tasks_min", &G::tasks_min);
        field("tasks_max", &G::tasks_max);
        field("level", &G::level);
    }
};

template <>
struct Fields<TopologyRequest> {
    static constexpr void visit(auto&& field) {
        using T = TopologyRequest;
        field("required", &T::required);
        field("preferred", &T::preferred);
        field("groups", &T::groups);
        field("groups_min", &T::groups_min);
    }
};

template <>
struct Fields<Companion> {
    static constexpr void visit(auto&& field) {
        using C = Companion;
        field("name", &C::name);
        field("count", &C::count);
        field("request", &C::request);
        field("gpu_model", &C::gpu_model);
        field("node_labels", &C::node_labels);
        field("node_filter", &C::node_filter);
        field("tolerations", &C::tolerations);
    }
};

template <>
struct Fields<Toleration> {
    static constexpr void visit(auto&& field) {
        using T = Toleration;
        field("key", &T::key);
        field("value", &T::value);
        field("effect", &T::effect);
    }
};

template <>
struct Fields<NodeTerm> {
    static constexpr void visit(auto&& field) {
        using T = NodeTerm;
        field("key", &T::key);
        field("is", &T::is);
        field("values", &T::values);
    }
};

template <>
struct Fields<NodeFilter> {
    static constexpr void visit(auto&& field) { field("any_of", &NodeFilter::any_of); }
};

}  // namespace berth::model
