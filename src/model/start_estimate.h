// SPDX-License-Identifier: Apache-2.0
//
// When will a waiting job start, if what is known of the others' run times holds? Made by
// scheduling/forecast.h.
#pragma once

#include <optional>

#include "model/node.h"

namespace berth::model {

// None = not before `until`. Each bound is a forecast of its own: run times halved, as expected,
// doubled.
struct StartEstimate {
    std::optional<TimePoint> optimistic;
    std::optional<TimePoint> expected;
    std::optional<TimePoint> pessimistic;
    TimePoint until;  // how far the forecast looked

    bool operator==(const StartEstimate&) const = default;
};

}  // namespace berth::model
