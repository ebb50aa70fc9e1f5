// SPDX-License-Identifier: Apache-2.0
//
// Which members do nodes, their GPUs and pools have as the API shows them?
#pragma once

#include "codec/api/json_api.h"
#include "codec/fields/described.h"
#include "codec/fields/node_fields.h"

namespace berth::codec {

template <>
struct Fields<ShareView> {
    static void visit(auto&& field) {
        using S = ShareView;
        field("job", &S::job);
        field("memory_used", &S::memory_used);
        field("memory_limit", &S::memory_limit);
        field("compute_used", &S::compute_used);
        field("cap", &S::cap);
    }
};

template <>
struct Fields<ProcessView> {
    static void visit(auto&& field) {
        using P = ProcessView;
        field("job", &P::job);
        field("node", &P::node);
        field("gpu", &P::gpu);
        field("pid", &P::pid);
        field("memory", &P::memory);
    }
};

template <>
struct Fields<GpuView> {
    static void visit(auto&& field) {
        using G = GpuView;
        field("index", &G::index);
        field("uuid", &G::uuid);
        field("healthy", &G::healthy);
        field("used", &G::used);
        field("jobs", &G::jobs);
        field("shares", &G::shares);
        field("uncounted", &G::uncounted);
        field("compute_held", &G::compute_held);
        field("memory_held", &G::memory_held);
        field("utilization_percent", &G::utilization_percent);
        field("memory_used", &G::memory_used);
        field("power_watts", &G::power_watts);
    }
};

template <>
struct Fields<PoolView> {
    static void visit(auto&& field) {
        using P = PoolView;
        field("name", &P::name);
        field("labels", &P::labels);
        field("spares", &P::spares);
        field("strict_shares", &P::strict_shares);
        field("exchange", &P::exchange);
        field("nodes", &P::nodes);
        field("nodes_ready", &P::nodes_ready);
        field("gpus", &P::gpus);
        field("used", &P::used);
        field("quotas", &P::quotas);
    }
};

template <>
struct Fields<NodeView> {
    static void visit(auto&& field) {
        Fields<model::Node>::visit(field);
        field("pool", &NodeView::pool);
        field("labelled_pool", &NodeView::labelled_pool);
        field("joins", &NodeView::joins);
        field("shares_kept_by", &NodeView::shares_kept_by);
        field("devices", &NodeView::devices);
    }
};

}  // namespace berth::codec
