// SPDX-License-Identifier: Apache-2.0
//
// Which members has what is known of projects? A part of model_fields.h.
#pragma once

#include "codec/fields/described.h"
#include "model/project.h"

namespace berth::codec {

template <>
struct Fields<model::Entitlement> {
    static void visit(auto&& field) {
        field("quota", &model::Entitlement::quota);
        field("limit", &model::Entitlement::limit);
        field("cpu_quota", &model::Entitlement::cpu_quota);
        field("memory_quota", &model::Entitlement::memory_quota);
        field("cpu_limit", &model::Entitlement::cpu_limit);
        field("memory_limit", &model::Entitlement::memory_limit);
        field("weight", &model::Entitlement::weight);
        field("priority", &model::Entitlement::priority);
        field("kind", &model::Entitlement::kind);
        field("usage_ppm", &model::Entitlement::usage_ppm);
    }
};

template <>
struct Fields<model::Project> {
    static void visit(auto&& field) {
        field("name", &model::Project::name);
        field("parent", &model::Project::parent);
        field("order", &model::Project::order);
        field("rights", &model::Project::rights);
        field("pools", &model::Project::pools);
        field("preemption_delay", &model::Project::preemption_delay);
        field("preempt_min_run", &model::Project::preempt_min_run);
        field("reclaim_min_run", &model::Project::reclaim_min_run);
        field("job_order", &model::Project::job_order);
        field("job_tail", &model::Project::job_tail);
        field("idle_after", &model::Project::idle_after);
        field("idle_act", &model::Project::idle_act);
        field("strict_shares", &model::Project::strict_shares);
    }
};

}  // namespace berth::codec
