// SPDX-License-Identifier: Apache-2.0
//
// Which members has what is known of pauses? A part of model_fields.h and event_fields.h.
#pragma once

#include "codec/fields/described.h"
#include "model/event.h"
#include "model/job/launch.h"
#include "model/record.h"

namespace berth::codec {

template <>
struct Fields<model::PauseCost> {
    static void visit(auto&& field) {
        using C = model::PauseCost;
        field("unsaved_gpu_ms", &C::unsaved_gpu_ms);
        field("restart_gpu_ms", &C::restart_gpu_ms);
    }
};

template <>
struct Fields<model::PauseWay> {
    static void visit(auto&& field) {
        field("rung", &model::PauseWay::rung);
        field("why_not", &model::PauseWay::why_not);
        field("why_not_parked", &model::PauseWay::why_not_parked);
        field("may_park", &model::PauseWay::may_park);
    }
};

template <>
struct Fields<model::Frozen> {
    static void visit(auto&& field) {
        field("gpu_memory", &model::Frozen::gpu_memory);
        field("time", &model::Frozen::time);
    }
};

template <>
struct Fields<model::OrderReceipt> {
    static void visit(auto&& field) {
        using R = model::OrderReceipt;
        field("by", &R::by);
        field("stage", &R::stage);
        field("cost_gpu_ms", &R::cost_gpu_ms);
        field("beneficiary_stage", &R::beneficiary_stage);
        field("beneficiary_cost_gpu_ms", &R::beneficiary_cost_gpu_ms);
        field("beneficiary_turn", &R::beneficiary_turn);
    }
};

template <>
struct Fields<model::PauseReceipt> {
    static void visit(auto&& field) {
        using P = model::PauseReceipt;
        field("time", &P::time);
        field("rule", &P::rule);
        field("beneficiary", &P::beneficiary);
        field("actor", &P::actor);
        field("cost", &P::cost);
        field("deadline", &P::deadline);
        field("stopped", &P::stopped);
        field("saved", &P::saved);
        field("is_wasteful", &P::is_wasteful);
        field("frozen", &P::frozen);
        field("detail", &P::detail);
        field("order", &P::order);
    }
};

template <>
struct Fields<model::PauseManner> {
    static void visit(auto&& field) {
        using P = model::PauseManner;
        field("signal", &P::signal);
        field("grace", &P::grace);
    }
};

template <>
struct Fields<model::PauseSide> {
    static void visit(auto&& field) {
        field("project", &model::PauseSide::project);
        field("used", &model::PauseSide::used);
        field("quota", &model::PauseSide::quota);
    }
};

template <>
struct Fields<model::PauseSides> {
    static void visit(auto&& field) {
        field("pool", &model::PauseSides::pool);
        field("own", &model::PauseSides::own);
        field("other", &model::PauseSides::other);
        field("asked", &model::PauseSides::asked);
    }
};

template <>
struct Fields<model::PauseRequested> {
    static void visit(auto&& field) {
        field("job", &model::PauseRequested::job);
        field("rule", &model::PauseRequested::rule);
        field("beneficiary", &model::PauseRequested::beneficiary);
        field("cost", &model::PauseRequested::cost);
        field("deadline", &model::PauseRequested::deadline);
        field("whole_job", &model::PauseRequested::whole_job);
        field("tasks", &model::PauseRequested::tasks);
        field("is_wasteful", &model::PauseRequested::is_wasteful);
        field("sides", &model::PauseRequested::sides);
    }
};

template <>
struct Fields<model::IdleWarning> {
    static void visit(auto&& field) {
        using W = model::IdleWarning;
        field("since", &W::since);
        field("said", &W::said);
        field("act", &W::act);
        field("acts_at", &W::acts_at);
        field("why_not", &W::why_not);
    }
};

template <>
struct Fields<model::JobIdle> {
    static void visit(auto&& field) {
        field("job", &model::JobIdle::job);
        field("warning", &model::JobIdle::warning);
    }
};

template <>
struct Fields<model::JobBusy> {
    static void visit(auto&& field) { field("job", &model::JobBusy::job); }
};

template <>
struct Fields<model::JobUsed> {
    static void visit(auto&& field) {
        field("job", &model::JobUsed::job);
        field("busy", &model::JobUsed::busy);
        field("measured", &model::JobUsed::measured);
    }
};

template <>
struct Fields<model::JobKept> {
    static void visit(auto&& field) {
        field("job", &model::JobKept::job);
        field("until", &model::JobKept::until);
    }
};

template <>
struct Fields<model::JobPaused> {
    static void visit(auto&& field) {
        using P = model::JobPaused;
        field("job", &P::job);
        field("saved", &P::saved);
        field("detail", &P::detail);
        field("frozen", &P::frozen);
    }
};

template <>
struct Fields<model::JobParked> {
    static void visit(auto&& field) {
        using P = model::JobParked;
        field("job", &P::job);
        field("frozen", &P::frozen);
    }
};

}  // namespace berth::codec
