// SPDX-License-Identifier: Apache-2.0
//
// Which events does a plan become? The one translation shared by every host: control/ writes
// them to the log before it acts, scenarios apply them directly.
#pragma once

#include <vector>

#include "lifecycle/apply.h"
#include "model/plan.h"
#include "model/policy/policy.h"

namespace berth::lifecycle {

// In an order in which they can be applied.
std::vector<model::EventBody> events_of(const State& state, const model::Plan& plan,
                                        const model::Policy& policy, model::TimePoint now);

// How the processes of a job ended that were asked to save and stop.
struct Leaving {
    bool saved = false;
    std::int64_t unsaved_gpu_ms = 0;  // what is lost otherwise
};
// Paused, or about to start again with another number of tasks.
model::EventBody event_of_leaving(const model::JobRecord& job, const Leaving& leaving);

}  // namespace berth::lifecycle
