// SPDX-License-Identifier: Apache-2.0
//
// Which members do the events and snapshots have, and what is each event called?
#pragma once

#include <array>
#include <string_view>
#include <variant>

#include "codec/fields/described_json.h"
#include "codec/fields/model_fields.h"
#include "codec/fields/profile_fields.h"
#include "codec/fields/size_fields.h"
#include "codec/fields/snapshot_fields.h"
#include "model/event.h"

namespace berth::codec {

// In the order of model::EventBody.
inline constexpr std::array<std::string_view, std::variant_size_v<model::EventBody>> kEventTypes{
    "levels_set",
    "pool_set",
    "node_set",
    "project_set",
    "job_submitted",
    "job_starting",
    "job_running",
    "job_reserved",
    "reservation_dropped",
    "pause_requested",
    "job_paused",
    "job_held",
    "job_released",
    "checkpoint_saved",
    "cancel_requested",
    "job_finished",
    "attempt_lost",
    "job_resized",
    "job_measured",
    "jobs_parted",
    "node_moved",
    "job_parked",
    "job_woken",
    "pool_removed",
    "policy_set",
    "project_removed",
    "log_begun",
    "job_escaped",
    "node_used_by_others",
    "job_size_set",
    "job_request_set",
    "job_idle",
    "job_busy",
    "job_kept",
    "job_used"};

template <>
struct Fields<model::ProjectSet> {
    static void visit(auto&& field) { field("project", &model::ProjectSet::project); }
};

template <>
struct Fields<model::ProjectRemoved> {
    static void visit(auto&& field) { field("project", &model::ProjectRemoved::project); }
};

template <>
struct Fields<model::PolicySet> {
    static void visit(auto&& field) {
        field("settings", &model::PolicySet::settings);
        field("order", &model::PolicySet::order);
    }
};

template <>
struct Fields<model::LogBegun> {
    static void visit(auto&& field) {
        using L = model::LogBegun;
        field("incarnation", &L::incarnation);
        field("last_job", &L::last_job);
        field("order", &L::order);
    }
};

template <>
struct Fields<model::JobSubmitted> {
    static void visit(auto&& field) {
        field("job", &model::JobSubmitted::job);
        field("spec", &model::JobSubmitted::spec);
        field("user", &model::JobSubmitted::user);
        field("command", &model::JobSubmitted::command);
        field("key", &model::JobSubmitted::key);
    }
};

template <>
struct Fields<model::JobStarting> {
    static void visit(auto&& field) {
        using S = model::JobStarting;
        field("job", &S::job);
        field("attempt", &S::attempt);
        field("rule", &S::rule);
        field("tasks", &S::tasks);
    }
};

template <>
struct Fields<model::JobReserved> {
    static void visit(auto&& field) {
        using R = model::JobReserved;
        field("job", &R::job);
        field("rule", &R::rule);
        field("deadline", &R::deadline);
        field("tasks", &R::tasks);
    }
};

template <>
struct Fields<model::CancelRequested> {
    static void visit(auto&& field) {
        using C = model::CancelRequested;
        field("job", &C::job);
        field("deadline", &C::deadline);
        field("reason", &C::reason);
    }
};

template <>
struct Fields<model::JobFinished> {
    static void visit(auto&& field) {
        using F = model::JobFinished;
        field("job", &F::job);
        field("state", &F::state);
        field("exit_code", &F::exit_code);
        field("detail", &F::detail);
        field("ended", &F::ended);
    }
};

template <>
struct Fields<model::AttemptLost> {
    static void visit(auto&& field) {
        field("job", &model::AttemptLost::job);
        field("detail", &model::AttemptLost::detail);
    }
};

template <>
struct Fields<model::JobRunning> {
    static void visit(auto&& field) {
        using R = model::JobRunning;
        field("job", &R::job);
        field("pause_way", &R::pause_way);
    }
};

// Events that name a job and say nothing else.
template <typename T>
struct JobFieldOnly {
    static void visit(auto&& field) { field("job", &T::job); }
};
template <>
struct Fields<model::ReservationDropped> : JobFieldOnly<model::ReservationDropped> {};
template <>
struct Fields<model::JobWoken> : JobFieldOnly<model::JobWoken> {};
template <>
struct Fields<model::JobHeld> : JobFieldOnly<model::JobHeld> {};
template <>
struct Fields<model::JobReleased> : JobFieldOnly<model::JobReleased> {};
template <>
struct Fields<model::CheckpointSaved> : JobFieldOnly<model::CheckpointSaved> {};

// Reads the body of an event of that type from an object whose other members were read.
template <typename Style, std::size_t Index = 0>
bool read_event_body(const Style& style, JsonReader& json, std::string_view type,
                     model::EventBody& body) {
    if constexpr (Index == std::variant_size_v<model::EventBody>) {
        return false;
    } else {
        if (type != kEventTypes[Index]) {
            return read_event_body<Style, Index + 1>(style, json, type, body);
        }
        read_members(style, json, body.emplace<Index>());
        return true;
    }
}

}  // namespace berth::codec
