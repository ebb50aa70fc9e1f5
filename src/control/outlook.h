// SPDX-License-Identifier: Apache-2.0
//
// What would become of a job if it were submitted now? Guarantee: the state is as before.
#pragma once

#include "control/admission.h"
#include "control/submission.h"
#include "lifecycle/apply.h"
#include "scheduling/passes/decision_cache.h"

namespace berth::control {

struct Present {
    lifecycle::State& state;
    const model::Policy& policy;
    model::TimePoint now;
};

Outlook outlook_of(const Present& present, Admission& admission, scheduling::DecisionCache& memory,
                   const model::JobSpec& spec);

}  // namespace berth::control
