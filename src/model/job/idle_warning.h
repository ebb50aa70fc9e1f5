// SPDX-License-Identifier: Apache-2.0
//
// What is a job warned of whose GPUs do nothing?
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "model/policy/policy.h"

namespace berth::model {

struct IdleWarning {
    TimePoint since;  // its GPUs do nothing, as far as that was seen
    TimePoint said;   // it was warned
    IdleAct act = IdleAct::Warn;
    std::optional<TimePoint> acts_at = {};  // unless they are used before; none = never
    std::string why_not = {};  // it is not parked, though the rule says so

    bool operator==(const IdleWarning&) const = default;
};

// "parked" or "ended": what it is, of one of which something follows.
constexpr std::string_view done(IdleAct act) { return act == IdleAct::Park ? "parked" : "ended"; }

}  // namespace berth::model
