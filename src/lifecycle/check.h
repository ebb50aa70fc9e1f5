// SPDX-License-Identifier: Apache-2.0
//
// May this event be folded? Two questions, which lifecycle::check() asks one after the other.
#pragma once

#include "lifecycle/apply.h"

namespace berth::lifecycle {

// Whether what a new event brings is within the limits of docs/limits.md. Errors: Invalid.
base::Status check_limits(const State& state, const model::EventBody& event);

// Whether it can happen now. Errors: NotFound, Exists, Conflict, Invalid.
base::Status check_possible(const State& state, const model::EventBody& event);

// Folds an event of a log, as try_apply() does a new one: it was within the limits of the version
// that wrote it. Errors: those of check_possible(); nothing changes.
base::Result<std::optional<model::JobRecord>> replay(State& state, const model::Event& event);

}  // namespace berth::lifecycle
