// SPDX-License-Identifier: Apache-2.0
//
// Which members do the types have that only the API shows: plans, verdicts, submissions and views?
#pragma once

#include "codec/api/json_api.h"
#include "codec/api/node_view_fields.h"
#include "codec/api/order_account_fields.h"
#include "codec/api/plan_fields.h"
#include "codec/fields/described.h"
#include "codec/fields/profile_fields.h"

namespace berth::codec {

template <>
struct Fields<model::Submission> {
    static void visit(auto&& field) {
        using S = model::Submission;
        field("spec", &S::spec);
        field("launch", &S::launch);
        field("key", &S::key);
    }
};

template <>
struct Fields<model::Suggestion> {
    static void visit(auto&& field) {
        using R = model::Suggestion;
        field("kind", &R::kind);
        field("name", &R::name);
        field("gpus", &R::gpus);
        field("tasks", &R::tasks);
        field("jobs", &R::jobs);
    }
};

template <>
struct Fields<model::Verdict> {
    static void visit(auto&& field) {
        using V = model::Verdict;
        field("job", &V::job);
        field("reason", &V::reason);
        field("cause", &V::cause);
        field("asks", &V::asks);
        field("idle", &V::idle);
        field("capacity", &V::capacity);
        field("used", &V::used);
        field("bound", &V::bound);
        field("tasks_asked", &V::tasks_asked);
        field("tasks_fit", &V::tasks_fit);
        field("largest_free", &V::largest_free);
        field("compute_asked", &V::compute_asked);
        field("memory_asked", &V::memory_asked);
        field("compute_left", &V::compute_left);
        field("memory_left", &V::memory_left);
        field("host_asks", &V::host_asks);
        field("host_used", &V::host_used);
        field("host_bound", &V::host_bound);
        field("scope", &V::scope);
        field("what", &V::what);
        field("group", &V::group);
        field("at", &V::at);
        field("until", &V::until);
        field("blockers", &V::blockers);
        field("position", &V::position);
        field("suggestion", &V::suggestion);
    }
};

template <>
struct Fields<JobView> {
    static void visit(auto&& field) {
        Fields<model::JobRecord>::visit(field);
        field("verdict", &JobView::verdict);
        field("why", &JobView::why);
        field("foresight", &JobView::foresight);
        field("profile", &JobView::profile);
        field("beside", &JobView::beside);
        field("uncounted", &JobView::uncounted);
        field("order", &JobView::order);
    }
};

template <>
struct Fields<model::StartEstimate> {
    static void visit(auto&& field) {
        using E = model::StartEstimate;
        field("optimistic", &E::optimistic);
        field("expected", &E::expected);
        field("pessimistic", &E::pessimistic);
        field("until", &E::until);
        field("after", &E::after);
        field("has_run", &E::has_run);
        field("evidence", &E::evidence);
    }
};

template <>
struct Fields<Foresight> {
    static void visit(auto&& field) {
        field("starts_if", &Foresight::starts_if);
        field("start_estimate", &Foresight::start_estimate);
    }
};

template <>
struct Fields<UseInPool> {
    static void visit(auto&& field) {
        using U = UseInPool;
        field("pool", &U::pool);
        field("quota", &U::quota);
        field("limit", &U::limit);
        field("fair_share", &U::fair_share);
        field("used", &U::used);
        field("used_by_non_preemptible", &U::used_by_non_preemptible);
        field("waiting", &U::waiting);
        field("cpu_used", &U::cpu_used);
        field("memory_used", &U::memory_used);
    }
};

template <>
struct Fields<ProjectView> {
    static void visit(auto&& field) {
        Fields<model::Project>::visit(field);
        field("use", &ProjectView::use);
        field("predicted", &ProjectView::predicted);
    }
};

}  // namespace berth::codec
