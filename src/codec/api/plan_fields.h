// SPDX-License-Identifier: Apache-2.0
//
// Which members has what a decision asks to be done? A part of api_fields.h.
#pragma once

#include "codec/api/json_api.h"
#include "codec/fields/model_fields.h"

namespace berth::codec {

template <>
struct Fields<model::Start> {
    static void visit(auto&& field) {
        field("job", &model::Start::job);
        field("rule", &model::Start::rule);
        field("tasks", &model::Start::tasks);
    }
};

template <>
struct Fields<model::Pause> {
    static void visit(auto&& field) {
        field("job", &model::Pause::job);
        field("tasks", &model::Pause::tasks);
        field("whole_job", &model::Pause::whole_job);
        field("rule", &model::Pause::rule);
        field("beneficiary", &model::Pause::beneficiary);
        field("cost", &model::Pause::cost);
        field("is_wasteful", &model::Pause::is_wasteful);
    }
};

template <>
struct Fields<model::Move> {
    static void visit(auto&& field) {
        field("job", &model::Move::job);
        field("tasks", &model::Move::tasks);
        field("rule", &model::Move::rule);
        field("beneficiary", &model::Move::beneficiary);
        field("cost", &model::Move::cost);
        field("is_wasteful", &model::Move::is_wasteful);
        field("deadline", &model::Move::deadline);
    }
};

template <>
struct Fields<model::Reservation> {
    static void visit(auto&& field) {
        field("job", &model::Reservation::job);
        field("rule", &model::Reservation::rule);
        field("tasks", &model::Reservation::tasks);
        field("deadline", &model::Reservation::deadline);
    }
};

template <>
struct Fields<model::BackfillReservation> {
    static void visit(auto&& field) {
        field("job", &model::BackfillReservation::job);
        field("start", &model::BackfillReservation::start);
        field("unknown", &model::BackfillReservation::unknown);
        field("tasks", &model::BackfillReservation::tasks);
        field("kept", &model::BackfillReservation::kept);
    }
};

template <>
struct Fields<model::Overcommitment> {
    static void visit(auto&& field) {
        field("pool", &model::Overcommitment::pool);
        field("scope", &model::Overcommitment::scope);
        field("quotas", &model::Overcommitment::quotas);
        field("capacity", &model::Overcommitment::capacity);
    }
};

template <>
struct Fields<model::Plan> {
    static void visit(auto&& field) {
        field("node_moves", &model::Plan::node_moves);
        field("starts", &model::Plan::starts);
        field("pauses", &model::Plan::pauses);
        field("moves", &model::Plan::moves);
        field("reservations", &model::Plan::reservations);
        field("backfill", &model::Plan::backfill);
        field("dropped", &model::Plan::dropped);
        field("give_ups", &model::Plan::give_ups);
        field("next_wakeup", &model::Plan::next_wakeup);
        field("overcommitted", &model::Plan::overcommitted);
    }
};

template <>
struct Fields<PlanView> {
    static void visit(auto&& field) {
        field("plan", &PlanView::plan);
        field("verdicts", &PlanView::verdicts);
    }
};

}  // namespace berth::codec
