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
#include "model/fields/job_fields.h"
#include "model/job/launch.h"
#include "model/record.h"

namespace berth::codec {

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
inline constexpr bool kIsSparse<model::GpuTimes> = true;
template <>
struct Fields<model::GpuTimes> {
    static void visit(auto&& field) {
        using T = model::GpuTimes;
        field("busy", &T::busy);
        field("allocated_idle", &T::allocated_idle);
        field("not_measured", &T::not_measured);
        field("starting", &T::starting);
        field("leaving", &T::leaving);
        field("lost_to_pause", &T::lost_to_pause);
        field("lost_to_failure", &T::lost_to_failure);
        field("reserved", &T::reserved);
        field("blocked_by_room", &T::blocked_by_room);
        field("blocked_by_rules", &T::blocked_by_rules);
        field("free", &T::free);
        field("others", &T::others);
        field("unhealthy", &T::unhealthy);
        field("capacity", &T::capacity);
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
        field("saves_when_asked", &R::saves_when_asked);
        field("losses", &R::losses);
        field("attained_gpu_ms", &R::attained_gpu_ms);
        field("settled", &R::settled);
        field("lost_gpu_ms", &R::lost_gpu_ms);
        field("milli_gpu_ms", &R::milli_gpu_ms);
        field("exit_code", &R::exit_code);
        field("detail", &R::detail);
        field("tasks", &R::tasks);
        field("releasing", &R::releasing);
        field("started_tasks", &R::started_tasks);
        field("hold", &R::reserved);
        field("hold_deadline", &R::hold_deadline);
        field("hold_rule", &R::hold_rule);
        field("last_pause", &R::last_pause);
        field("stale_since", &R::stale_since);
        field("frozen", &R::frozen);
        field("parked_since", &R::parked_since);
        field("pause_way", &R::pause_way);
        field("is_parted", &R::is_parted);
        field("escaped", &R::escaped);
        field("idle", &R::idle);
        field("kept_until", &R::kept_until);
        field("ended_for", &R::ended_for);
        field("submitted_request", &R::submitted_request);
        field("next_request", &R::next_request);
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
