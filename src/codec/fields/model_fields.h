// SPDX-License-Identifier: Apache-2.0
//
// Which members do the types of the model have, and what are they called in JSON, in the event log
// and in the API (described.h)? One that is missing is lost on the way: both test the round trip.
#pragma once

#include "codec/fields/described.h"
#include "codec/fields/node_fields.h"
#include "codec/fields/pause_fields.h"
#include "codec/fields/project_fields.h"
#include "model/event.h"
#include "model/launch.h"
#include "model/record.h"

namespace berth::codec {

template <>
struct Fields<model::TaskRequest> {
    static void visit(auto&& field) {
        field("gpus", &model::TaskRequest::gpus);
        field("share", &model::TaskRequest::share);
        field("gpu_memory", &model::TaskRequest::gpu_memory);
        field("gpu_memory_max", &model::TaskRequest::gpu_memory_max);
        field("cpu", &model::TaskRequest::cpu);
        field("memory", &model::TaskRequest::memory);
        field("resources", &model::TaskRequest::resources);
    }
};

template <>
struct Fields<model::GpuPart> {
    static void visit(auto&& field) {
        field("compute", &model::GpuPart::compute);
        field("memory", &model::GpuPart::memory);
    }
};

template <>
struct Fields<model::TaskGroup> {
    static void visit(auto&& field) {
        using G = model::TaskGroup;
        field("name", &G::name);
        field("tasks_min", &G::tasks_min);
        field("tasks_max", &G::tasks_max);
        field("level", &G::level);
    }
};

template <>
struct Fields<model::TopologyRequest> {
    static void visit(auto&& field) {
        using T = model::TopologyRequest;
        field("required", &T::required);
        field("preferred", &T::preferred);
        field("groups", &T::groups);
    }
};

template <>
struct Fields<model::Companion> {
    static void visit(auto&& field) {
        using C = model::Companion;
        field("name", &C::name);
        field("count", &C::count);
        field("request", &C::request);
        field("node_labels", &C::node_labels);
        field("node_filter", &C::node_filter);
        field("tolerations", &C::tolerations);
    }
};

template <>
struct Fields<model::JobSpec> {
    static void visit(auto&& field) {
        using J = model::JobSpec;
        field("name", &J::name);
        field("project", &J::project);
        field("kind", &J::kind);
        field("priority", &J::priority);
        field("preemptible", &J::preemptible);
        field("pools", &J::pools);
        field("tasks_min", &J::tasks_min);
        field("tasks_max", &J::tasks_max);
        field("elastic", &J::elastic);
        field("request", &J::request);
        field("may_share", &J::may_share);
        field("packed", &J::packed);
        field("gpu_model", &J::gpu_model);
        field("node_labels", &J::node_labels);
        field("node_filter", &J::node_filter);
        field("tolerations", &J::tolerations);
        field("topology", &J::topology);
        field("companions", &J::companions);
        field("placement", &J::placement);
        field("tensor_skew_ppm", &J::tensor_skew_ppm);
        field("min_run", &J::min_run);
        field("expected_runtime", &J::expected_runtime);
        field("restart_cost", &J::restart_cost);
        field("pause_grace", &J::pause_grace);
        field("preemption_delay", &J::preemption_delay);
        field("stale_grace", &J::stale_grace);
        field("park_after", &J::park_after);
    }
};

template <>
struct Fields<model::TaskPlacement> {
    static void visit(auto&& field) {
        using T = model::TaskPlacement;
        field("task", &T::task);
        field("node", &T::node);
        field("gpu_mask", &T::gpu_mask);
        field("share", &T::share);
        field("cpu", &T::cpu);
        field("memory", &T::memory);
        field("gpu_memory", &T::gpu_memory);
        field("memory_share", &T::memory_share);
    }
};

template <>
struct Fields<model::JobRecord> {
    static void visit(auto&& field) {
        using R = model::JobRecord;
        field("id", &R::id);
        field("spec", &R::spec);
        field("user", &R::user);
        field("command", &R::command);
        field("state", &R::state);
        field("held", &R::held);
        field("created", &R::created);
        field("waiting_since", &R::waiting_since);
        field("first_start", &R::first_start);
        field("last_start", &R::last_start);
        field("last_checkpoint", &R::last_checkpoint);
        field("finished", &R::finished);
        field("attempts", &R::attempts);
        field("incarnation", &R::incarnation);
        field("pauses", &R::pauses);
        field("losses", &R::losses);
        field("attained_gpu_ms", &R::attained_gpu_ms);
        field("settled", &R::settled);
        field("lost_gpu_ms", &R::lost_gpu_ms);
        field("exit_code", &R::exit_code);
        field("detail", &R::detail);
        field("tasks", &R::tasks);
        field("releasing", &R::releasing);
        field("started_tasks", &R::started_tasks);
        field("hold", &R::hold);
        field("hold_deadline", &R::hold_deadline);
        field("hold_rule", &R::hold_rule);
        field("last_pause", &R::last_pause);
        field("stale_since", &R::stale_since);
        field("frozen", &R::frozen);
        field("parked_since", &R::parked_since);
        field("pause_way", &R::pause_way);
        field("is_parted", &R::is_parted);
        field("escaped", &R::escaped);
        field("ended_for", &R::ended_for);
    }
};

template <>
struct Fields<model::LaunchSpec> {
    static void visit(auto&& field) {
        field("command", &model::LaunchSpec::command);
        field("workdir", &model::LaunchSpec::workdir);
        field("environment", &model::LaunchSpec::environment);
        field("checkpoint_dir", &model::LaunchSpec::checkpoint_dir);
        field("pause", &model::LaunchSpec::pause);
        field("terminal", &model::LaunchSpec::terminal);
        field("attached", &model::LaunchSpec::attached);
        field("user", &model::LaunchSpec::user);
    }
};

}  // namespace berth::codec
