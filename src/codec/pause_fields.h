// SPDX-License-Identifier: Apache-2.0
//
// Which members has what is known of pauses? A part of model_fields.h.
#pragma once

#include "codec/described.h"
#include "model/launch.h"
#include "model/record.h"

namespace berth::codec {

template <>
struct Fields<model::PauseCost> {
    static void visit(auto&& field) {
        using C = model::PauseCost;
        field("unsaved_gpu_ms", &C::unsaved_gpu_ms), field("restart_gpu_ms", &C::restart_gpu_ms);
    }
};

template <>
struct Fields<model::PauseWay> {
    static void visit(auto&& field) {
        field("rung", &model::PauseWay::rung), field("why_not", &model::PauseWay::why_not);
    }
};

template <>
struct Fields<model::Frozen> {
    static void visit(auto&& field) {
        field("gpu_memory", &model::Frozen::gpu_memory), field("time", &model::Frozen::time);
    }
};

template <>
struct Fields<model::PauseReceipt> {
    static void visit(auto&& field) {
        using P = model::PauseReceipt;
        field("time", &P::time), field("rule", &P::rule), field("beneficiary", &P::beneficiary);
        field("actor", &P::actor), field("cost", &P::cost), field("deadline", &P::deadline);
        field("stopped", &P::stopped), field("saved", &P::saved);
        field("is_wasteful", &P::is_wasteful), field("frozen", &P::frozen);
        field("detail", &P::detail);
    }
};

template <>
struct Fields<model::PauseManner> {
    static void visit(auto&& field) {
        using P = model::PauseManner;
        field("signal", &P::signal), field("grace", &P::grace);
    }
};

}  // namespace berth::codec
