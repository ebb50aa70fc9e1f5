// SPDX-License-Identifier: Apache-2.0
//
// The members of nodes, pools and what happens to them (model_fields.h says what for).
#pragma once

#include "codec/fields/described.h"
#include "model/event.h"
#include "model/node/node.h"
#include "model/plan.h"

namespace berth::codec {

template <>
struct Fields<model::Pool> {
    static void visit(auto&& field) {
        field("name", &model::Pool::name);
        field("labels", &model::Pool::labels);
        field("exchange", &model::Pool::exchange);
        field("spares", &model::Pool::spares);
        field("strict_shares", &model::Pool::strict_shares);
    }
};

template <>
struct Fields<model::NodePlace> {
    static void visit(auto&& field) {
        using P = model::NodePlace;
        field("node", &P::node);
        field("pool", &P::pool);
        field("is_bound", &P::is_bound);
    }
};

template <>
struct Fields<model::GpuLinks> {
    static void visit(auto&& field) {
        using L = model::GpuLinks;
        field("numa", &L::numa);
        field("islands", &L::islands);
        field("nics", &L::nics);
        field("matrix", &L::matrix);
    }
};

template <>
struct Fields<model::Taint> {
    static void visit(auto&& field) {
        using T = model::Taint;
        field("key", &T::key);
        field("value", &T::value);
        field("effect", &T::effect);
    }
};

template <>
struct Fields<model::OthersUse> {
    static void visit(auto&& field) {
        using O = model::OthersUse;
        field("cpu", &O::cpu);
        field("memory", &O::memory);
        field("gpus", &O::gpus);
        field("gpu_indices", &O::gpu_indices);
        field("resources", &O::resources);
    }
};

template <>
struct Fields<model::Node> {
    static void visit(auto&& field) {
        field("name", &model::Node::name);
        field("gpus", &model::Node::gpus);
        field("gpu_model", &model::Node::gpu_model);
        field("gpu_memory", &model::Node::gpu_memory);
        field("gpu_reserved", &model::Node::gpu_reserved);
        field("gpu_context", &model::Node::gpu_context);
        field("cpu", &model::Node::cpu);
        field("memory", &model::Node::memory);
        field("labels", &model::Node::labels);
        field("topology", &model::Node::topology);
        field("gpu_links", &model::Node::gpu_links);
        field("taints", &model::Node::taints);
        field("shares_lack", &model::Node::shares_lack);
        field("health", &model::Node::health);
        field("others", &model::Node::others);
        field("resources", &model::Node::resources);
    }
};

template <>
struct Fields<model::LevelsSet> {
    static void visit(auto&& field) { field("levels", &model::LevelsSet::levels); }
};

template <>
struct Fields<model::PoolSet> {
    static void visit(auto&& field) { field("pool", &model::PoolSet::pool); }
};

template <>
struct Fields<model::PoolRemoved> {
    static void visit(auto&& field) { field("pool", &model::PoolRemoved::pool); }
};

template <>
struct Fields<model::NodeSet> {
    static void visit(auto&& field) { field("node", &model::NodeSet::node); }
};

template <>
struct Fields<model::NodeUsedByOthers> {
    static void visit(auto&& field) {
        using U = model::NodeUsedByOthers;
        field("node", &U::node);
        field("use", &U::use);
    }
};

template <>
struct Fields<model::NodeMoved> {
    static void visit(auto&& field) {
        using M = model::NodeMoved;
        field("node", &M::node);
        field("pool", &M::pool);
        field("replaces", &M::replaces);
    }
};

template <>
struct Fields<model::NodeMove> {
    static void visit(auto&& field) {
        using M = model::NodeMove;
        field("node", &M::node);
        field("pool", &M::pool);
        field("replaces", &M::replaces);
    }
};

}  // namespace berth::codec
