// SPDX-License-Identifier: Apache-2.0
//
// Which members has the account of the order of jobs? A part of api_fields.h.
#pragma once

#include "codec/fields/described.h"
#include "model/answer/order_account.h"

namespace berth::codec {

template <>
struct Fields<model::OrderEvidence> {
    static void visit(auto&& field) {
        using E = model::OrderEvidence;
        field("of", &E::from);
        field("key", &E::key);
        field("jobs", &E::jobs);
        field("unfinished", &E::unfinished);
        field("reach", &E::reach);
    }
};

template <>
struct Fields<model::StageChange> {
    static void visit(auto&& field) {
        field("time", &model::StageChange::time);
        field("stage", &model::StageChange::stage);
    }
};

template <>
struct Fields<model::OrderPrice> {
    static void visit(auto&& field) {
        using P = model::OrderPrice;
        field("candidate", &P::candidate);
        field("loses_gpu_ms", &P::loses_gpu_ms);
        field("stage", &P::stage);
        field("preempted_from", &P::preempted_from);
        field("is_behind", &P::is_behind);
        field("is_of_lower_priority", &P::is_of_lower_priority);
        field("held_back_by", &P::held_back_by);
        field("until", &P::until);
    }
};

template <>
struct Fields<model::OrderAccount> {
    static void visit(auto&& field) {
        using A = model::OrderAccount;
        field("by", &A::by);
        field("is_ranked", &A::is_ranked);
        field("position", &A::position);
        field("waiting", &A::waiting);
        field("jobs_before", &A::jobs_before);
        field("gpus_before", &A::gpus_before);
        field("capacity", &A::capacity);
        field("jobs_of_higher_priority", &A::jobs_of_higher_priority);
        field("stage", &A::stage);
        field("cost_gpu_ms", &A::cost_gpu_ms);
        field("cost_counts", &A::cost_counts);
        field("evidence", &A::evidence);
        field("price", &A::price);
        field("turn", &A::turn);
        field("due", &A::due);
        field("changes", &A::changes);
    }
};

template <>
struct Fields<model::Accuracy> {
    static void visit(auto&& field) {
        using A = model::Accuracy;
        field("jobs", &A::jobs);
        field("median_thousandths", &A::median_thousandths);
        field("p90_thousandths", &A::p90_thousandths);
    }
};

}  // namespace berth::codec
