// SPDX-License-Identifier: Apache-2.0
//
// Which members do events have by which a job comes to another number of tasks, or its tasks to
// another part of a GPU? A part of event_fields.h.
#pragma once

#include "codec/fields/described.h"
#include "model/event.h"

namespace berth::codec {

template <>
struct Fields<model::JobResized> {
    static void visit(auto&& field) {
        using R = model::JobResized;
        field("job", &R::job);
        field("attempt", &R::attempt);
        field("saved", &R::saved);
        field("lost_gpu_ms", &R::lost_gpu_ms);
    }
};

template <>
struct Fields<model::JobSizeSet> {
    static void visit(auto&& field) {
        using S = model::JobSizeSet;
        field("job", &S::job);
        field("tasks", &S::tasks);
        field("ended", &S::ended);
    }
};

template <>
struct Fields<model::JobRequestSet> {
    static void visit(auto&& field) {
        using S = model::JobRequestSet;
        field("job", &S::job);
        field("request", &S::request);
        field("requeue", &S::requeue);
        field("key", &S::key);
        field("tasks", &S::tasks);
    }
};

}  // namespace berth::codec
