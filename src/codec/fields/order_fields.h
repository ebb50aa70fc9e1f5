// SPDX-License-Identifier: Apache-2.0
//
// What the order of jobs remembers, in JSON (described.h): in snapshots and state files.
#pragma once

#include "codec/fields/described.h"
#include "model/answer/order_ledger.h"

namespace berth::codec {

template <>
struct Fields<model::OrderRules> {
    static void visit(auto&& field) {
        using R = model::OrderRules;
        field("by", &R::by);
        field("tail", &R::tail);
        field("patience", &R::patience);
        field("fair", &R::fair);
        field("hysteresis", &R::hysteresis);
    }
};

template <>
struct Fields<model::SizeLedger> {
    static void visit(auto&& field) {
        using S = model::SizeLedger;
        field("width", &S::width);
        field("ended", &S::ended);
        field("reached", &S::reached);
        field("hazards", &S::hazards);
        field("learned_from", &S::learned_from);
    }
};

template <>
struct Fields<model::FamilyLedger> {
    static void visit(auto&& field) {
        using F = model::FamilyLedger;
        field("likeness", &F::likeness);
        field("kin", &F::kin);
        field("width", &F::width);
        field("next_number", &F::next_number);
        field("numbers", &F::numbers);
        field("jobs", &F::jobs);
        field("submitted", &F::submitted);
        field("steps", &F::steps);
        field("states", &F::states);
    }
};

template <>
struct Fields<model::RankLedger> {
    static void visit(auto&& field) {
        using R = model::RankLedger;
        field("job", &R::job);
        field("width", &R::width);
        field("kin", &R::kin);
        field("numbers", &R::numbers);
        field("asked", &R::asked);
        field("asked_before", &R::asked_before);
        field("had_before", &R::had_before);
        field("stage", &R::stage);
        field("next_step", &R::next_step);
        field("change", &R::change);
        field("runs", &R::runs);
        field("has_run", &R::has_run);
        field("restarts", &R::restarts);
        field("courses", &R::courses);
        field("weights", &R::weights);
        field("cost", &R::cost);
        field("told", &R::estimate);
        field("stage_times", &R::stage_times);
        field("stages", &R::stages);
    }
};

template <>
struct Fields<model::ClaimLedger> {
    static void visit(auto&& field) {
        using C = model::ClaimLedger;
        field("job", &C::job);
        field("width", &C::width);
        field("run_until", &C::run_until);
        field("number", &C::number);
    }
};

template <>
struct Fields<model::GuardLedger> {
    static void visit(auto&& field) {
        field("grants", &model::GuardLedger::grants);
        field("claims", &model::GuardLedger::claims);
    }
};

template <>
struct Fields<model::CrowdLedger> {
    static void visit(auto&& field) {
        using C = model::CrowdLedger;
        field("project", &C::project);
        field("rules", &C::rules);
        field("last_stage", &C::last_stage);
        field("asked", &C::asked);
        field("may_have", &C::may_have);
        field("asked_sum", &C::asked_sum);
        field("may_have_sum", &C::may_have_sum);
        field("summed", &C::summed);
        field("waits", &C::waits);
        field("fair", &C::fair);
        field("told", &C::estimate);
        field("taken", &C::taken);
    }
};

template <>
struct Fields<model::OrderLedger> {
    static void visit(auto&& field) {
        using O = model::OrderLedger;
        field("rules", &O::rules);
        field("kept", &O::ranked_at);
        field("finished", &O::finished);
        field("learns_at", &O::learns_at);
        field("last_stage", &O::last_stage);
        field("weights", &O::weights);
        field("sizes", &O::sizes);
        field("families", &O::families);
        field("jobs", &O::jobs);
        field("projects", &O::projects);
        field("to_rank", &O::to_rank);
    }
};

}  // namespace berth::codec
