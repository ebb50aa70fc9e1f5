// SPDX-License-Identifier: Apache-2.0
//
// Which members do the answers have that are worked out on demand: share accounts and what-ifs?
#pragma once

#include "codec/api/json_api.h"
#include "codec/fields/described.h"
#include "codec/fields/model_fields.h"

namespace berth::codec {

template <>
struct Fields<model::ShareRow> {
    static void visit(auto&& field) {
        using R = model::ShareRow;
        field("project", &R::project);
        field("quota", &R::quota);
        field("limit", &R::limit);
        field("wants", &R::wants);
        field("weight_thousandths", &R::weight);
        field("priority", &R::priority);
        field("from_quota", &R::from_quota);
        field("from_surplus", &R::from_surplus);
        field("odd", &R::odd);
        field("fair_share", &R::fair);
    }
};

template <>
struct Fields<model::ShareOffer> {
    static void visit(auto&& field) {
        using O = model::ShareOffer;
        field("priority", &O::priority);
        field("round", &O::round);
        field("project", &O::project);
        field("left", &O::left);
        field("part_ppm", &O::part_ppm);
        field("offered", &O::offered);
        field("taken", &O::taken);
    }
};

template <>
struct Fields<model::ShareLevel> {
    static void visit(auto&& field) {
        using L = model::ShareLevel;
        field("parent", &L::parent);
        field("total", &L::total);
        field("surplus", &L::surplus);
        field("rows", &L::rows);
        field("offers", &L::offers);
    }
};

template <>
struct Fields<model::ShareAccount> {
    static void visit(auto&& field) {
        using A = model::ShareAccount;
        field("project", &A::project);
        field("pool", &A::pool);
        field("fair_share", &A::fair);
        field("levels", &A::levels);
    }
};

template <>
struct Fields<model::Hypothesis> {
    static void visit(auto&& field) {
        using H = model::Hypothesis;
        field("what", &H::what);
        field("name", &H::name);
        field("pool", &H::pool);
        field("gpus", &H::gpus);
        field("weight_thousandths", &H::weight_thousandths);
        field("count", &H::count);
        field("job", &H::job);
        field("spec", &H::spec);
        field("node", &H::node);
    }
};

template <>
struct Fields<WhatIfRequest> {
    static void visit(auto&& field) { field("suppose", &WhatIfRequest::suppose); }
};

template <>
struct Fields<model::JobFate> {
    static void visit(auto&& field) {
        using F = model::JobFate;
        field("fate", &F::fate);
        field("tasks", &F::tasks);
        field("beneficiary", &F::beneficiary);
        field("reason", &F::reason);
        field("why", &F::why);
    }
};

template <>
struct Fields<model::FateChange> {
    static void visit(auto&& field) {
        using C = model::FateChange;
        field("job", &C::job);
        field("now", &C::now);
        field("then", &C::then);
    }
};

template <>
struct Fields<model::ShareThen> {
    static void visit(auto&& field) {
        using S = model::ShareThen;
        field("quota", &S::quota);
        field("limit", &S::limit);
        field("weight_thousandths", &S::weight_thousandths);
        field("fair_share", &S::fair_share);
        field("used", &S::used);
        field("waiting", &S::waiting);
    }
};

template <>
struct Fields<model::ShareChange> {
    static void visit(auto&& field) {
        using C = model::ShareChange;
        field("project", &C::project);
        field("pool", &C::pool);
        field("now", &C::now);
        field("then", &C::then);
    }
};

template <>
struct Fields<model::WhatIf> {
    static void visit(auto&& field) {
        using W = model::WhatIf;
        field("sentence", &W::sentence);
        field("jobs", &W::jobs);
        field("projects", &W::projects);
        field("waiting_now", &W::waiting_now);
        field("waiting_then", &W::waiting_then);
        field("reasons_compared", &W::reasons_compared);
    }
};

template <>
struct Fields<model::ReplayRequest> {
    static void visit(auto&& field) {
        field("days", &model::ReplayRequest::days);
        field("suppose", &model::ReplayRequest::suppose);
        field("policy", &model::ReplayRequest::policy);
    }
};

template <>
struct Fields<model::ReplayFigures> {
    static void visit(auto&& field) {
        using F = model::ReplayFigures;
        field("jobs", &F::jobs);
        field("mean_wait", &F::mean_wait);
        field("p95_wait", &F::p95_wait);
        field("mean_completion", &F::mean_completion);
        field("pauses", &F::pauses);
        field("lost_gpu_ms", &F::lost_gpu_ms);
        field("used_gpu_ms", &F::used_gpu_ms);
        field("capacity_gpu_ms", &F::capacity_gpu_ms);
    }
};

template <>
struct Fields<model::ReplaySides> {
    static void visit(auto&& field) {
        field("project", &model::ReplaySides::project);
        field("really", &model::ReplaySides::really);
        field("as_set", &model::ReplaySides::as_set);
        field("changed", &model::ReplaySides::changed);
    }
};

template <>
struct Fields<model::WhatIfReplay> {
    static void visit(auto&& field) {
        using R = model::WhatIfReplay;
        field("id", &R::id);
        field("state", &R::state);
        field("percent", &R::percent);
        field("problem", &R::problem);
        field("from", &R::from);
        field("to", &R::to);
        field("sentence", &R::sentence);
        field("trust", &R::trust);
        field("all", &R::all);
        field("projects", &R::projects);
        field("never_ran", &R::never_ran);
        field("never_end", &R::never_end);
        field("changes_passed_over", &R::changes_passed_over);
    }
};

}  // namespace berth::codec
