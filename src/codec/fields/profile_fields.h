// SPDX-License-Identifier: Apache-2.0
//
// Which members do profiles of jobs have, measured and known?
#pragma once

#include "codec/fields/model_fields.h"
#include "model/event.h"
#include "model/record.h"

namespace berth::codec {

template <>
struct Fields<model::GpuProfile> {
    static void visit(auto&& field) {
        using P = model::GpuProfile;
        field("iterations", &P::iterations);
        field("iteration_us", &P::iteration_us);
        field("compute", &P::compute);
        field("persistent", &P::persistent);
        field("peak", &P::peak);
        field("highest", &P::highest);
    }
};

template <>
struct Fields<model::ProfileLedger> {
    static void visit(auto&& field) {
        using P = model::ProfileLedger;
        field("project", &P::project);
        field("name", &P::name);
        field("user", &P::user);
        field("gpus", &P::gpus);
        field("measured", &P::measured);
        field("profile", &P::profile);
        field("is_parted", &P::is_parted);
    }
};

template <>
struct Fields<model::JobMeasured> {
    static void visit(auto&& field) {
        field("job", &model::JobMeasured::job);
        field("profile", &model::JobMeasured::profile);
    }
};

template <>
struct Fields<model::JobEscaped> {
    static void visit(auto&& field) {
        field("job", &model::JobEscaped::job);
        field("detail", &model::JobEscaped::detail);
    }
};

template <>
struct Fields<model::JobsParted> {
    static void visit(auto&& field) {
        field("job", &model::JobsParted::job);
        field("beside", &model::JobsParted::beside);
    }
};

}  // namespace berth::codec
