// SPDX-License-Identifier: Apache-2.0
//
// Which members do events have by which a job comes to another number of tasks? A part of
// event_fields.h.
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

}  // namespace berth::codec
