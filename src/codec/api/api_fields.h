// SPDX-License-Identifier: Apache-2.0
//
// Which members do the types have that only the API shows: plans, verdicts, submissions and views?
#pragma once

#include "codec/api/json_api.h"
#include "codec/api/node_view_fields.h"
#include "codec/api/order_account_fields.h"
#include "codec/fields/described.h"
#include "codec/fields/profile_fields.h"

namespace berth::codec {

template <>
struct Fields<model::Submission> {
    static void visit(auto&& field) {
        using S = model::Submission;
        field("spec", &S::spec), field("launch", &S::launch), field("key", &S::key);
    }
};

template <>
struct Fields<model::Remedy> {
    static void visit(auto&& field) {
        using R = model::Remedy;
        field("kind", &R::kind), field("name", &R::name), field("gpus", &R::gpus);
        field("tasks", &R::tasks), field("jobs", &R::jobs), field("at", &R::at);
    }
};

template <>
struct Fields<model::Verdict> {
    static void visit(auto&& field) {
        using V = model::Verdict;
        field("job", &V::job), field("reason", &V::reason), field("asks", &V::asks);
        field("idle", &V::idle), field("capacity", &V::capacity), field("used", &V::used);
        field("bound", &V::bound), field("tasks_asked", &V::tasks_asked);
        field("tasks_fit", &V::tasks_fit), field("largest_free", &V::largest_free);
        field("compute_asked", &V::compute_asked), field("memory_asked", &V::memory_asked);
        field("compute_left", &V::compute_left), field("memory_left", &V::memory_left);
        field("scope", &V::scope), field("detail", &V::detail), field("cause", &V::cause);
        field("group", &V::group);
        field("blockers", &V::blockers), field("position", &V::position);
        field("remedy", &V::remedy);
    }
};

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
    }
};

template <>
struct Fields<model::Reservation> {
    static void visit(auto&& field) {
        field("job", &model::Reservation::job);
        field("rule", &model::Reservation::rule);
        field("tasks", &model::Reservation::tasks);
    }
};

template <>
struct Fields<model::Booking> {
    static void visit(auto&& field) {
        field("job", &model::Booking::job);
        field("start", &model::Booking::start);
        field("unknown", &model::Booking::unknown);
        field("tasks", &model::Booking::tasks);
        field("kept", &model::Booking::kept);
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
        field("bookings", &model::Plan::bookings), field("dropped", &model::Plan::dropped);
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

template <>
struct Fields<JobView> {
    static void visit(auto&& field) {
        Fields<model::JobRecord>::visit(field);
        field("verdict", &JobView::verdict);
        field("why", &JobView::why);
        field("foresight", &JobView::foresight);
        field("profile", &JobView::profile), field("beside", &JobView::beside);
        field("uncounted", &JobView::uncounted), field("order", &JobView::order);
    }
};

template <>
struct Fields<model::StartEstimate> {
    static void visit(auto&& field) {
        using E = model::StartEstimate;
        field("optimistic", &E::optimistic), field("expected", &E::expected);
        field("pessimistic", &E::pessimistic), field("until", &E::until);
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
struct Fields<ProjectUse> {
    static void visit(auto&& field) {
        using U = ProjectUse;
        field("pool", &U::pool), field("quota", &U::quota), field("limit", &U::limit);
        field("fair_share", &U::fair_share), field("used", &U::used);
        field("used_by_non_preemptible", &U::used_by_non_preemptible);
        field("waiting", &U::waiting);
    }
};

template <>
struct Fields<ProjectView> {
    static void visit(auto&& field) {
        Fields<model::Project>::visit(field);
        field("use", &ProjectView::use), field("predicted", &ProjectView::predicted);
    }
};

}  // namespace berth::codec
