// SPDX-License-Identifier: Apache-2.0
//
// Which members has what a job was, and is expected to be?
#pragma once

#include "codec/fields/described.h"
#include "codec/fields/model_fields.h"
#include "model/answer/cluster_timeline.h"
#include "model/answer/past_pause.h"

namespace berth::codec {

template <>
struct Fields<model::Span> {
    static void visit(auto&& field) {
        using S = model::Span;
        field("state", &S::state);
        field("on_hold", &S::is_on_hold);
        field("parked", &S::is_parked);
        field("from", &S::from);
        field("to", &S::to);
        field("attempt", &S::attempt);
        field("tasks", &S::tasks);
        field("gpus", &S::gpus);
        field("nodes", &S::nodes);
        field("node_gpus", &S::node_gpus);
        field("rule", &S::rule);
        field("beneficiary", &S::beneficiary);
        field("actor", &S::actor);
        field("saved", &S::is_saved);
        field("lost_gpu_ms", &S::lost_gpu_ms);
        field("reason", &S::reason);
    }
};

template <>
struct Fields<model::Band> {
    static void visit(auto&& field) {
        field("optimistic", &model::Band::optimistic);
        field("expected", &model::Band::expected);
        field("pessimistic", &model::Band::pessimistic);
    }
};

template <>
struct Fields<model::ExpectedSpan> {
    static void visit(auto&& field) {
        field("state", &model::ExpectedSpan::state);
        field("from", &model::ExpectedSpan::from);
        field("to", &model::ExpectedSpan::to);
    }
};

template <>
struct Fields<model::JobTimeline> {
    static void visit(auto&& field) {
        using T = model::JobTimeline;
        field("sentence", &T::sentence);
        field("now", &T::now);
        field("spans", &T::spans);
        field("left_out", &T::left_out);
        field("waited", &T::waited);
        field("ran", &T::ran);
        field("paused", &T::paused);
        field("expected", &T::expected);
        field("evidence", &T::evidence);
    }
};

template <>
struct Fields<model::PastSpan> {
    static void visit(auto&& field) {
        using S = model::Span;
        field("state", &S::state);
        field("on_hold", &S::is_on_hold);
        field("parked", &S::is_parked);
        field("from", &S::from);
        field("to", &S::to);
        field("attempt", &S::attempt);
        field("gpus", &S::gpus);
        field("nodes", &S::nodes);
        field("node_gpus", &S::node_gpus);
        field("rule", &S::rule);
        field("beneficiary", &S::beneficiary);
        field("saved", &S::is_saved);
        field("lost_gpu_ms", &S::lost_gpu_ms);
    }
};

template <>
struct Fields<model::JobSpans> {
    static void visit(auto&& field) {
        using J = model::JobSpans;
        field("id", &J::id);
        field("name", &J::name);
        field("project", &J::project);
        field("user", &J::user);
        field("state", &J::state);
        field("gpus", &J::gpus);
        field("spans", &J::spans);
        field("left_out", &J::left_out);
        field("expected", &J::expected);
        field("evidence", &J::evidence);
    }
};

template <>
struct Fields<model::SpanCounts> {
    static void visit(auto&& field) {
        using C = model::SpanCounts;
        field("jobs", &C::jobs);
        field("starts", &C::starts);
        field("pauses", &C::pauses);
        field("parkings", &C::parkings);
        field("ends", &C::ends);
        field("failures", &C::failures);
        field("lost_gpu_ms", &C::lost_gpu_ms);
    }
};

template <>
struct Fields<model::ClusterTimeline> {
    static void visit(auto&& field) {
        using T = model::ClusterTimeline;
        field("sentence", &T::sentence);
        field("from", &T::from);
        field("to", &T::to);
        field("now", &T::now);
        field("known_from", &T::known_from);
        field("counts", &T::counts);
        field("items", &T::items);
        field("next", &T::next);
    }
};

template <>
struct Fields<model::PastPause> {
    static void visit(auto&& field) {
        using P = model::PastPause;
        Fields<model::PauseReceipt>::visit(field);
        field("attempt", &P::attempt);
        field("whole_job", &P::is_whole);
        field("tasks", &P::tasks);
        field("lost_gpu_ms", &P::lost_gpu_ms);
        field("sides", &P::sides);
    }
};

template <>
struct Fields<model::Taking> {
    static void visit(auto&& field) {
        field("job", &model::Taking::job);
        Fields<model::PastPause>::visit(field);
    }
};

template <>
struct Fields<model::Takings> {
    static void visit(auto&& field) {
        field("items", &model::Takings::items);
        field("after", &model::Takings::after);
    }
};

template <>
struct Fields<model::JobReceipts> {
    static void visit(auto&& field) {
        field("items", &model::JobReceipts::items);
        field("left_out", &model::JobReceipts::left_out);
    }
};

}  // namespace berth::codec
